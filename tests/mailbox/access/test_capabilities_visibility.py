"""The lists, the tasks and the acts that each kind of caller may see and do."""

from collections.abc import Callable
from functools import partial

import pytest

from mailbox.access.agents import peers
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import public_routes
from mailbox.inspection import lists, tasks, trees
from mailbox.life import expiry, leasing, results, sending
from mailbox.models import Lease, Task
from mailbox.repairs.auto_retry import scheduler_agent
from mailbox.words.errors import MailboxError
from tests.support import factories

pytestmark = pytest.mark.django_db

# One task of alice's waits, one is leased to bob, one of bob's results waits for alice.
LISTS: dict[str, Callable[[Caller], int]] = {
    "queue": lambda caller: len(lists.queue(caller).items),
    "tasks": lambda caller: len(lists.recent_tasks(caller).items),
    "results": lambda caller: len(lists.recent_results(caller).items),
    "leases": lambda caller: len(lists.leases(caller).items),
    "events": lambda caller: len(lists.recent_events(caller, limit=100).items),
    "grants": lambda caller: len(lists.grants(caller).items),
    "replay": lambda caller: len(lists.replay_entries(caller).items),
    "deliveries": lambda caller: len(lists.deliveries(caller).items),
    "peers": lambda caller: len(peers.listing(caller).items),
    "sent": lambda caller: lists.newest_sent(caller, dialect="yeoman", limit=10, offset=0)[1],
}
READS: dict[str, Callable[[Caller, Task], object]] = {
    "task": lambda caller, task: tasks.task(caller, task.uuid),
    "current": lambda caller, task: expiry.current(caller, task.uuid),
    "result": lambda caller, task: tasks.result(caller, task.uuid),
    "timeline": lambda caller, task: tasks.timeline(caller, task.uuid),
    "tree": lambda caller, task: trees.tree(caller, task.uuid).items,
}
ALL = {
    "queue": 2,
    "tasks": 1,
    "results": 1,
    "leases": 1,
    "grants": 2,
    "replay": 1,
    "deliveries": 1,
    "peers": 2,
    "sent": 3,
    "events": 10,
}
OF_ALICE = {**ALL, "leases": 0, "grants": 1, "peers": 1, "events": 6}
OF_BOB = {**ALL, "results": 0, "deliveries": 0, "grants": 1, "peers": 1, "sent": 0, "events": 4}
NOTHING = dict.fromkeys(ALL, 0)

CALLERS: dict[str, tuple[dict[str, int], bool]] = {  # what the lists show, and whether the reads answer
    "alice": (OF_ALICE, True),
    "bob": (OF_BOB, True),
    "mallory": (NOTHING, False),
    "viewer": (ALL, True),
    "operator": (ALL, True),
    "admin": (ALL, True),
    "in process": (ALL, True),
    "command line": (ALL, True),
    "command line as alice": (OF_ALICE, True),
    "scheduler": (ALL, True),
    "route of alice": (OF_ALICE, True),
    "route of bob": ({**OF_BOB, "tasks": 0, "queue": 0}, False),
}
# The error of cancelling the queued task, and the error of a heartbeat for the leased task. None: no error.
ACTS: dict[str, tuple[str | None, str | None]] = {
    "alice": (None, "lease_mismatch"),
    "bob": ("unknown_task", None),
    **dict.fromkeys(("mallory", "viewer", "operator", "admin"), ("unknown_task", "unknown_task")),
    **dict.fromkeys(("in process", "command line"), ("unknown_task", "unknown_task")),
    "command line as alice": (None, "lease_mismatch"),
    "scheduler": ("unknown_task", "lease_mismatch"),
    "route of alice": ("not_an_agent", "not_an_agent"),
    "route of bob": ("not_an_agent", "not_an_agent"),
}


@pytest.fixture
def leased(alice: Caller, bob: Caller, loopback: None) -> Lease:
    """Send three tasks of YEOMAN to bob: an answered task, a leased task, a queued task. Return the lease."""
    callback = {"callback_url": "http://127.0.0.1:8080/", "callback_secret": "s" * 32}
    answered = factories.leased_task(alice, bob, dialect="yeoman", idempotency=factories.idempotent(), **callback)
    results.post_result(bob, factories.result_envelope(answered.task))
    lease = factories.leased_task(alice, bob, dialect="yeoman")
    factories.sent_task(alice, bob, dialect="yeoman")
    for agent in (alice, bob):
        peers.seen(agent, "peer")
    return lease


@pytest.fixture
def caller(name: str, alice: Caller, bob: Caller, mallory: Caller) -> Caller:
    """Return the caller of this name."""
    match name:
        case "alice" | "bob" | "mallory":
            return {"alice": alice, "bob": bob, "mallory": mallory}[name]
        case "viewer" | "operator" | "admin":
            return factories.person("petra", Role(name))
        case "in process":
            return Caller.local()
        case "command line":
            return Caller.command_line()
        case "command line as alice":
            return Caller.command_line(alice.agent)
        case "scheduler":
            return Caller.scheduler(scheduler_agent())
    owner = alice if name == "route of alice" else bob
    made = public_routes.add(Caller.command_line(), factories.row_of(owner), rate_limit=9)
    return public_routes.caller(made.route, request_id="")


def refusal_of(act: Callable[[], object]) -> str | None:
    try:
        act()
    except MailboxError as refusal:
        return refusal.code
    return None


@pytest.mark.parametrize("name", CALLERS)
def test_the_lists_show_what_the_caller_may_see(leased: Lease, caller: Caller, name: str) -> None:
    assert {found: count(caller) for found, count in LISTS.items()} == CALLERS[name][0]


@pytest.mark.parametrize("name", CALLERS)
def test_a_task_is_read_by_the_callers_that_may_see_it(leased: Lease, caller: Caller, name: str) -> None:
    answered = {read: refusal_of(partial(look, caller, leased.task)) for read, look in READS.items()}

    assert answered == dict.fromkeys(READS, None if CALLERS[name][1] else "unknown_task")


@pytest.mark.parametrize("name", ACTS)
def test_only_the_sender_cancels_and_only_the_holder_sends_heartbeats(leased: Lease, caller: Caller, name: str) -> None:
    waiting = Task.objects.get(state=Task.State.QUEUED)

    refusals = (
        refusal_of(lambda: sending.cancel(caller, waiting.uuid)),
        refusal_of(lambda: leasing.heartbeat(caller, leased.task.uuid)),
    )

    assert refusals == ACTS[name]
