"""People: how they sign in, their sessions, passwords and second factors."""
