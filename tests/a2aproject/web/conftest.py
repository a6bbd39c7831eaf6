from tests.support.cast import alice, bob, olga

__all__ = ["alice", "bob", "olga"]
