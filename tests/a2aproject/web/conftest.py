from __future__ import annotations

from tests.support.cast import alice, bob, olga

__all__ = ["alice", "bob", "olga"]
