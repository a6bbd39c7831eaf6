"""The sign-in, the sessions and the settings of people."""
