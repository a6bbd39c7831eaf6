"""Leases of crashed workers are taken over, and those of live workers are left alone."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from a2a_hub_client.errors import NotNowError
from a2a_hub_client.models.tasks import AgentId, HeldLease, Idempotency, Task
from a2a_hub_client.refusals import ForbiddenError, LeaseMismatchError
from a2a_hub_client.worker import client as clients
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.job import LeasedTask, TaskResult
from a2a_hub_client.worker.orphans import Orphans, Resuming
from tests.support import factories
from tests.support.own_client import client_of
from tests.support.races import answers
from tests.support.workers import await_lease, result_of, text_of

LEASED_AT = datetime(2026, 1, 1, tzinfo=UTC)
BOB = AgentId(display="bob@local", pubkey="P")
SAFE = Idempotency(duplicate_safety="idempotent", key="k")
UNSAFE = Idempotency(duplicate_safety="unsafe", key="k")
ALL = Resuming(which="all", after=1.0)


def held(name: str, beat: int, *, attempt: int = 1, idempotency: Idempotency | None = None) -> HeldLease:
    """Return a lease of the task ``name``. ``beat`` is the second of its last heartbeat, 0 without one."""
    task = Task(id=task_id(name), sender=BOB, recipient=BOB, text=name, idempotency=idempotency)
    seen = LEASED_AT + timedelta(seconds=beat)
    return HeldLease(
        id=lease_id(name), attempt=attempt, leased_at=LEASED_AT, last_seen_at=seen, task=task, leased_to=BOB
    )


def task_id(name: str) -> UUID:
    return UUID(bytes=name.encode().ljust(16))


def lease_id(name: str) -> UUID:
    return UUID(bytes=name.encode().rjust(16))


class Scripted:
    """A hub whose lists of leases are scripted. ``clock`` is the time of its last trouble."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.troubled_at = float("-inf")
        self.released: list[tuple[str, str, str]] = []

    def leases(self) -> list[HeldLease]:
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return list(step)

    def release_lease(self, task: str, lease: str, reason: str) -> None:
        self.released.append((task, lease, reason))

    def lease(self, task: str, attempt_id: UUID) -> LeasedTask:
        return LeasedTask(task={"id": task}, lease_id="new", attempt=2, time_limit=None)


@pytest.fixture
def clock(monkeypatch):
    """Return a function that moves the clock of the looks by seconds."""
    now = [1000.0]
    monkeypatch.setattr("a2a_hub_client.worker.orphans.time", Clock(now))

    def move(seconds: float) -> float:
        now[0] += seconds
        return now[0]

    return move


class Clock:
    def __init__(self, now: list[float]) -> None:
        self.monotonic = lambda: now[0]


def orphans_of(hub: Any, resuming: Resuming = ALL, said: list[str] | None = None, own: Any = ()) -> Orphans:
    stopping, abandon = threading.Event(), threading.Event()
    say = (list[str]() if said is None else said).append
    return Orphans(hub, resuming, heartbeat=0.5, stopping=stopping, abandon=abandon, own=lambda: own, say=say)


def taken_by(orphans: Orphans) -> list[str]:
    found = []
    while (leased := orphans.take_over()) is not None:
        found.append(leased.id)
    return found


def looked_twice(hub: Any, clock: Any, resuming: Resuming = ALL, said: list[str] | None = None) -> list[str]:
    orphans = orphans_of(hub, resuming, said)
    orphans.look()
    assert orphans.take_over() is None
    clock(1.5)
    orphans.look()
    return taken_by(orphans)


def test_a_lease_whose_heartbeats_stand_still_is_taken_over_and_others_are_not(clock):
    before = [held("dead", 1), held("live", 1), held("ended", 1)]
    hub = Scripted(before, [held("dead", 1), held("live", 2), held("later", 1)])

    assert looked_twice(hub, clock) == [str(task_id("dead"))]

    reason = "taken over: its worker sent no heartbeat for 1 s"
    assert hub.released == [(str(task_id("dead")), str(lease_id("dead")), reason)]


@pytest.mark.parametrize("which", ["all", "idempotent"])
def test_a_holder_that_never_sent_a_heartbeat_keeps_its_lease(clock, which):
    plain = [held("plain", 0, idempotency=SAFE)]

    assert looked_twice(Scripted(plain, plain), clock, Resuming(which=which, after=1.0)) == []


def test_no_lease_is_taken_over_before_the_silence_is_over(clock):
    orphans = orphans_of(Scripted([held("dead", 1)]))
    orphans.look()
    clock(0.9)
    orphans.look()

    assert taken_by(orphans) == []


@pytest.mark.parametrize("idempotency", [SAFE, UNSAFE, None])
def test_by_default_only_tasks_are_taken_over_that_their_sender_calls_idempotent(clock, idempotency):
    leases = [held("dead", 1, idempotency=idempotency)]

    taken = looked_twice(Scripted(leases, leases), clock, Resuming(after=1.0))

    assert taken == ([str(task_id("dead"))] if idempotency is SAFE else [])


def test_the_silence_begins_anew_after_trouble_with_the_hub(clock):
    leases = [held("dead", 1)]
    hub = Scripted(leases, [*leases, held("own", 1)], [*leases, held("own", 1)])
    orphans = orphans_of(hub)
    orphans.look()
    hub.troubled_at = clock(0.5)
    clock(1.0)
    orphans.look()
    assert taken_by(orphans) == []
    clock(0.9)
    orphans.look()
    assert (taken_by(orphans), len(hub.script)) == ([], 1)

    clock(0.2)
    orphans.look()

    assert taken_by(orphans) == [str(task_id("dead"))]


def test_an_orphan_that_was_not_taken_over_at_once_is_looked_at_again(clock):
    leases = [held("first", 1), held("next", 1)]
    orphans = orphans_of(Scripted(leases, leases, [held("next", 9)]))
    orphans.look()
    clock(1.5)
    orphans.look()
    assert orphans.take_over() is not None
    clock(60)
    orphans.look()

    assert taken_by(orphans) == []


def test_a_task_that_was_leased_too_often_is_left_to_an_operator(clock):
    leases = [held("fourth", 1, attempt=4), held("fifth", 1, attempt=5)]
    said: list[str] = []

    assert looked_twice(Scripted(leases, leases), clock, said=said) == [str(task_id("fourth"))]

    left = f"task {task_id('fifth')}: not taken over: it was leased 5 times. Lease {lease_id('fifth')} is left."
    assert left in said


def test_a_running_worker_looks_each_minute_and_takes_over_who_died_later(clock):
    dead = [held("dead", 1)]
    orphans = orphans_of(Scripted([], [held("dead", 0)], dead, dead, []))
    orphans.look()
    clock(59)
    orphans.look()
    for pause in (1, 60, 1.5):
        clock(pause)
        orphans.look()

    assert taken_by(orphans) == [str(task_id("dead"))]


def test_a_worker_does_not_suspect_its_own_leases(clock):
    leases = [held("own", 1), held("dead", 1)]
    orphans = orphans_of(Scripted(leases, leases), own={str(lease_id("own"))})
    orphans.look()
    clock(1.5)
    orphans.look()

    assert taken_by(orphans) == [str(task_id("dead"))]


def test_a_lease_that_is_left_to_an_operator_is_named_once(clock):
    leases, said = [held("fifth", 1, attempt=5)], list[str]()
    orphans = orphans_of(Scripted(*[leases] * 4), said=said)
    for pause in (1.5, 60, 1.5, 60):
        orphans.look()
        clock(pause)

    assert len(said) == 1


@pytest.mark.parametrize(("heartbeat", "silence"), [(1, 30), (5, 30), (10, 45), (60, 195)])
def test_the_silence_is_three_heartbeats_and_the_longest_pause(heartbeat, silence):
    assert Resuming().silence(heartbeat) == silence


@pytest.mark.parametrize("resuming", [Resuming(after=10.0), Resuming(attempts=0)])
def test_a_silence_within_a_heartbeat_and_no_attempts_are_refused(resuming):
    with pytest.raises(ValueError, match="must be"):
        resuming.silence(10.0)


def test_a_worker_that_resumes_nothing_does_not_look(clock):
    assert looked_twice(Scripted(), clock, Resuming(which="none")) == []


def test_a_refused_key_ends_the_look(clock):
    assert looked_twice(Scripted(ForbiddenError("unknown key")), clock) == []


class Answering:
    """A line that answers after so many seconds, or fails."""

    url = "http://hub"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def perform(self, call: Any, *, retry: Any) -> Any:
        if self.error is not None:
            raise self.error
        return {}


@pytest.mark.parametrize(
    ("error", "slow", "is_trouble"),
    [(None, 5.0, False), (None, -1.0, True), (NotNowError("down"), 5.0, True), (ForbiddenError("key"), 5.0, True)],
)
def test_a_request_that_fails_or_is_slow_is_trouble(monkeypatch, error, slow, is_trouble):
    monkeypatch.setattr(clients, "SLOW", slow)
    line: Any = Answering(error)
    hub = WorkerClient(line)

    if error is None:
        hub.me()
    else:
        with pytest.raises(type(error)):
            hub.me()

    assert (hub.troubled_at > float("-inf")) is is_trouble


@pytest.fixture
def orphan(desk, alice, bob):
    """Send a task, and lease it as a worker that crashed after its first heartbeat; return both."""
    task = factories.sent_task(alice, bob)
    with client_of(desk.url, desk.key) as hub:
        client = WorkerClient(hub)
        (leased,) = client.receive(uuid4(), most=1, wait=0)
        client.heartbeat(leased)
    return task, leased


def test_a_restarted_worker_goes_on_with_the_tasks_of_its_predecessor(desk, orphan):
    task, _ = orphan
    resuming = Resuming(which="all", after=0.2)

    assert desk.run("sh", "-c", "echo $A2A_ATTEMPT", heartbeat=0.1, resuming=resuming) is None

    assert text_of(result_of(task)) == "2"
    (released,) = factories.journal("a2a_task_released")
    assert released.fields["reason"] == "taken over: its worker sent no heartbeat for 0.2 s"
    assert [lease.end for lease in task.leases.order_by("attempt")] == ["release", "result"]


def test_of_two_workers_that_take_over_at_once_one_gets_the_task(desk, orphan, clock):
    task, old = orphan
    with client_of(desk.url, desk.key) as line:
        hub = WorkerClient(line)
        both = [orphans_of(hub), orphans_of(hub)]
        for orphans in both:
            orphans.look()
        clock(1.5)
        for orphans in both:
            orphans.look()

        taken = answers(both[0].take_over, both[1].take_over)

        (leased,) = [one for one in taken if one is not None]
        assert str(await_lease(task).lease_id) == leased.lease_id
        assert leased.attempt == 2
        with pytest.raises(LeaseMismatchError):
            hub.answer(old, TaskResult(text="late"), lambda: None)
        hub.answer(leased, TaskResult(text="done"), lambda: None)
    assert text_of(result_of(task)) == "done"
