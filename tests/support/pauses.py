"""Steps that run while a thread waits, in the waiting thread itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mailbox.database.bell.waiters import Waiter


def act_in_pauses(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Let every wait run the next of the steps in each of its pauses and look again. Its time is up after the last."""
    left = list(steps)

    def wait(_: Waiter, seconds: float | None) -> bool:
        if not left:
            return False
        left.pop(0)()
        return True

    monkeypatch.setattr(Waiter, "wait", wait)
