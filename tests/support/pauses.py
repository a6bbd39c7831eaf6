"""Pauses without waiting: the steps in them, clocks that move in them alone or stand still, and looks without any."""

import os
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from a2a_hub_client.worker import worker
from mailbox.access.limits import rates
from mailbox.database.bell import waiters
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


class Clock:
    """Replaces the module `time` in a module of the product. Only its pauses move it, and each runs the next step."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []
        self.steps = list(steps)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        if self.steps:
            self.steps.pop(0)()


def stop_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock of all rates stand still, so that no slow request earns another one. Forget what was taken."""
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    rates.forget()


def tick_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers of clients look after their work again and again without a pause. Their time stands still."""
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: os.sched_yield()))


def until(condition: Callable[[], object]) -> None:
    """Look until the condition holds. Between two looks the other threads run, and the suite's time-out ends them."""
    while not condition():
        os.sched_yield()


def until_it_waits(thread: threading.Thread) -> None:
    """Start a thread, and return once it waits for a ring: its first look has found nothing."""
    before = waiters.begun()
    thread.start()
    until(lambda: waiters.begun() > before)


class Patience(threading.Event):
    """A stop whose bounded waits return at once. ``pauses`` records them. That of number ``ends_after`` sets it."""

    def __init__(self, *, ends_after: int | None = None) -> None:
        super().__init__()
        self.pauses: list[float] = []
        self.ends_after = ends_after

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            return super().wait()
        self.pauses.append(timeout)
        if len(self.pauses) == self.ends_after:
            self.set()
        return self.is_set()
