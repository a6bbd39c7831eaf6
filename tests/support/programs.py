"""Random programs of steps, and the answers and rows of a run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import time_machine
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db import connection, transaction
from hypothesis import strategies as st

from mailbox.models import Task
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultStatus, TaskSource
from mailbox.words.errors import MailboxError
from tests.support.dump import Dump
from tests.support.steps import Decide, Drain, Keep, Post, Send, SendAgain, Step, TakeLeases, Wait
from tests.support.world import MINUTE, OPERATOR, RECIPIENTS, SENDERS, START, World, key_of

SYNCHRONY = {
    "sqlite": ("PRAGMA synchronous", "FULL", "OFF"),
    "postgresql": ("SET synchronous_commit", "on", "off"),
}


class Run(NamedTuple):
    answers: list[Any]  # of each step: what its verb returned, or its refusal
    tables: dict[str, list[dict[str, Any]]]


def run(program: Sequence[Step]) -> Run:
    """Run the program in an empty database under a clock that stands still, and empty the database again."""
    dump = Dump()
    with time_machine.travel(START, tick=False) as clock, not_waiting_for_the_disk():
        try:
            with transaction.atomic():
                world = World(clock)
            return Run([dump.of(_answer(step, world)) for step in program], dump.tables())
        finally:
            connection.ops.execute_sql_flush(sql_flush(no_style(), connection))


@contextmanager
def not_waiting_for_the_disk() -> Iterator[None]:
    """Let each commit return before it is on the disk, which takes most of a run's time."""
    setting, usual, quick = SYNCHRONY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(f"{setting} = {quick}")
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"{setting} = {usual}")


def _answer(step: Step, world: World) -> object:
    try:
        return step.take(world)
    except MailboxError as refusal:
        return refusal


def _promises(safety: DuplicateSafety) -> st.SearchStrategy[Idempotency]:
    return st.sampled_from("kkj").map(lambda key: Idempotency(duplicate_safety=safety, key=key))


def _rarely(*values: object) -> st.SearchStrategy[Any]:
    """Draw one of the values one time out of eight, else None."""
    return st.sampled_from([None] * 7 * len(values) + [*values])


RECIPIENT = st.sampled_from(["bob", "bob", *RECIPIENTS])
ATTEMPT = st.sampled_from([None, None, None, None, "new", "new", "last", "first"])
NUMBER = st.integers(0, 5)
IN_FLIGHT = st.just(Task.State.IN_FLIGHT)
FENCE = st.sampled_from(["none", "live", "live", "live", "stale"])
STATUS = st.sampled_from([*[ResultStatus.OK] * 2, ResultStatus.PARTIAL, ResultStatus.ERROR])
WHOLE = RECIPIENT.map(lambda name: AgentRef(f"{name}@local", key_of(name)))
BY_DISPLAY = RECIPIENT.map(lambda name: AgentRef(f"{name}@local"))
ODDLY_NAMED = st.sampled_from(
    [
        AgentRef("bob"),
        AgentRef(None, key_of("bob")),
        AgentRef("bob@local", key_of("ben")),
        AgentRef("nobody@local"),
        AgentRef("nobody@local", key_of("bob")),
        AgentRef("bob@local", key_of("nobody")),
    ]
)
PLAIN_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "task_kind": st.just("review"),
    "parent": st.just(UUID(int=7)),
    "idempotency": _promises(DuplicateSafety.UNSAFE),
    "context_id": st.just("trip"),
    "metadata": st.just({"a": [1, {"b": '"é"'}]}),
    "work_timeout": st.sampled_from([MINUTE, MINUTE * 2, timedelta(days=40, microseconds=1)]),
    "source": st.just(TaskSource.USER),
    "dialect": st.just("yeoman"),
}
ODD_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "idempotency": _promises(DuplicateSafety.IDEMPOTENT),
    "sender": st.sampled_from([AgentRef("alice@local", key_of("alice")), AgentRef("alice"), AgentRef("anna@local")]),
    "callback_url": st.sampled_from(["https://alice.example/done", "https://alice.example/done", "http://127.0.0.1/"]),
}
DEADLINE = _rarely(MINUTE, MINUTE * 2)

SEND = st.builds(
    Send,
    sender=st.sampled_from(["alice", *SENDERS]),
    recipient=WHOLE | BY_DISPLAY,
    has_id=st.booleans(),
    deadline=DEADLINE,
    more=st.fixed_dictionaries({}, optional=PLAIN_FIELDS),
)
SEND_ODDLY = st.builds(
    Send,
    sender=st.sampled_from(["alice", "alice", *SENDERS, "mallory", OPERATOR]),
    recipient=WHOLE | ODDLY_NAMED,
    has_id=st.booleans(),
    deadline=DEADLINE,
    more=st.fixed_dictionaries({}, optional=ODD_FIELDS),
)
SEND_A_DUPLICATE = st.builds(
    Send,
    sender=st.just("alice"),
    recipient=st.just(AgentRef("bob@local", key_of("bob"))),
    has_id=st.booleans(),
    deadline=DEADLINE,
    more=st.fixed_dictionaries({"idempotency": _promises(DuplicateSafety.IDEMPOTENT)}),
)
SEND_AGAIN = st.builds(
    SendAgain,
    number=NUMBER,
    change=st.sampled_from([{}, {"intent_text": "another"}, {"callback_url": "https://alice.example/other"}]),
    sender=_rarely("anna"),
)
LEASE = st.builds(TakeLeases, recipient=RECIPIENT, limit=st.sampled_from([1, 1, 1, 1, 1, 2]), attempt=ATTEMPT)
SAID = st.fixed_dictionaries(
    {"status": STATUS},
    optional={"error_message": st.sampled_from(["", 'not "so"']), "content": st.just([{"type": "text", "text": "é"}])},
)
POST = st.builds(
    Post,
    state=st.sampled_from([*[Task.State.IN_FLIGHT] * 6, None]),
    number=NUMBER,
    fence=FENCE,
    by=_rarely("mallory", "ben"),
    lease_first=st.sampled_from([False, False, False, True]),
    said=SAID,
)
DRAIN = st.builds(
    Drain,
    sender=st.sampled_from(["alice", *SENDERS]),
    limit=st.sampled_from([1, 1, 1, 1, 1, 2]),
    attempt=ATTEMPT,
    acked=_rarely(0, 1),
)
DECIDE = st.builds(
    Decide,
    what=st.sampled_from(
        ["release", "requeue", "force an error", "cancel", "acknowledge", "lease out of turn", "heartbeat"]
    ),
    state=st.sampled_from([*Task.State.values, Task.State.IN_FLIGHT, None]),
    number=NUMBER,
    fence=FENCE,
)
KEEP = st.builds(Keep, what=st.sampled_from(["pause", "resume", "resume", "sweep", "compact"]), recipient=RECIPIENT)
WAIT = st.builds(Wait, delta=st.sampled_from([timedelta(milliseconds=1), timedelta(seconds=1), MINUTE, MINUTE * 2]))

# A task's whole life as most lives go, if nothing else waits. Without it a random walk rarely comes to a task's end.
_RESOLVE = (
    SEND,
    st.builds(TakeLeases, recipient=st.just("bob"), limit=st.just(1), attempt=ATTEMPT),
    st.builds(
        Post,
        state=IN_FLIGHT,
        number=st.just(0),
        fence=st.sampled_from(["live", "none"]),
        by=st.none(),
        lease_first=st.booleans(),
        said=SAID,
    ),
)
ROUND = st.tuples(*_RESOLVE, DRAIN)
# A task that goes back to the queue and is leased again.
RETURN = st.tuples(
    st.builds(
        Decide, what=st.sampled_from(["release", "requeue"]), state=IN_FLIGHT, number=NUMBER, fence=st.just("live")
    ),
    WAIT,
    LEASE,
)
# A task's whole life, and then a drain under its spent attempt id.
_DRAIN = {"sender": st.just("alice"), "limit": st.just(1), "acked": st.none()}
SPEND = st.tuples(
    *_RESOLVE,
    st.builds(Drain, attempt=st.just("new"), **_DRAIN),
    st.just(Decide("acknowledge", Task.State.RESOLVED, 0, "none")),
    st.builds(Drain, attempt=st.sampled_from(["last", "first"]), **_DRAIN),
)
STEP = st.one_of(SEND, SEND_ODDLY, SEND_A_DUPLICATE, SEND_AGAIN, LEASE, LEASE, POST, DRAIN, DECIDE, DECIDE, KEEP, WAIT)
# `one_of` would count a strategy that it is given twice once.
CHAPTERS = [*[ROUND] * 4, RETURN, SPEND, *[st.tuples(STEP)] * 3]
CHAPTER = st.integers(0, len(CHAPTERS) - 1).flatmap(CHAPTERS.__getitem__)
PROGRAMS = st.lists(CHAPTER, min_size=8, max_size=24).map(
    lambda chapters: [step for chapter in chapters for step in chapter]
)
