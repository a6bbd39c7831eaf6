"""The journal: what its rows say, how they are sealed, and what they keep of deleted tasks."""
