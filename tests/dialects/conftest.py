from __future__ import annotations

from tests.cast import alice, bob, failures_are_noted_anew, mallory, olga

__all__ = ["alice", "bob", "failures_are_noted_anew", "mallory", "olga"]
