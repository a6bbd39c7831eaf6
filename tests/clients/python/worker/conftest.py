from __future__ import annotations

from tests.mailbox.management.conftest import a2a, a2a_json, alice, bob, desk

__all__ = ["a2a", "a2a_json", "alice", "bob", "desk"]
