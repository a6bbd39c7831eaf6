"""A hub in memory, for the tests of agents. It needs no server and no database."""
