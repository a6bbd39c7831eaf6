"""One task, and the verbs that are tried on it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid4

from time_machine import Traveller

from mailbox.access.callers import Caller, Role
from mailbox.life import conversation, expiry, leasing, results, sending, updates
from mailbox.models import Agent, AuditEvent, Lease, Task
from mailbox.repairs import repair, retry
from mailbox.repairs.repair import DuplicateRisk
from mailbox.repairs.retry import RetryPolicy
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.conversation import Update, UpdateStatus, Words
from mailbox.words.envelopes import ResultStatus, TaskEnvelope
from mailbox.words.errors import MailboxError
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories

START = datetime(2035, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
AT_ONCE = timedelta(0)
MANY = 1000
DIALECT = "mailbox"
QUESTION = Update(status=UpdateStatus.INPUT_REQUIRED, message=[{"type": "text", "text": "which one?"}])
REJECTION = partial(factories.result_envelope, status=ResultStatus.REJECTED, content=(), error_message="not mine")
MESSAGE = Words(content=[{"type": "text", "text": "the first"}])


class State(NamedTuple):
    """The rows of a task: its own state, whether a lease is live, how far its result is; "" where there is no row."""

    task: str
    lease: str = ""
    result: str = ""


ABSENT, DELETED = State("absent"), State("deleted")


class Step(NamedTuple):
    """A verb that was tried in a state. ``refused`` is the code of its error, "" without an error.

    ``end`` says how a lease ended and ``outcome`` how the task ended; each is "" if it did not end. ``journal`` are the
    kinds of the new rows in the journal of the task.
    """

    before: State
    verb: str
    after: State
    refused: str = ""
    end: str = ""
    outcome: str = ""
    journal: tuple[str, ...] = ()


class Scene:
    """The task has a deadline and a work timeout. It is idempotent, and another task may do the same work."""

    def __init__(self, clock: Traveller) -> None:
        """Make a cast of its own, so that scenes can share a database."""
        self.clock = clock
        number = Agent.objects.count()
        self.alice = factories.agent(f"alice{number}", "a2a.send.*")
        self.bob = factories.agent(f"bob{number}", "a2a.respond.*")
        self.olga = factories.person(f"olga{number}", Role.OPERATOR)
        self.ada = factories.person(f"ada{number}", Role.ADMIN)
        self.task_id, self.first_id = uuid4(), uuid4()

    def state(self) -> State:
        task = Task.objects.select_related("result").filter(uuid=self.task_id).first()
        if task is None:
            return DELETED if self.journal() else ABSENT
        name = "queued, waits on another task" if task.waits_on_id else task.state
        result = task.result_or_none
        return State(name, "live lease" if task.live_lease() else "", f"result {result.delivery}" if result else "")

    def journal(self) -> list[str]:
        """Return the kinds of all journal rows about the task, but for checks of capabilities."""
        rows = AuditEvent.objects.filter(task_id=self.task_id).exclude(kind=Kind.CAPABILITY_CHECK)
        return list(rows.order_by("pk").values_list("kind", flat=True))

    def take(self, verb: str) -> Step:
        """Try the verb, and return what it did."""
        before, written, ended = self.state(), len(self.journal()), self._ended()
        try:
            VERBS[verb](self)
        except MailboxError as error:
            assert self.state() == before
            return Step(before, verb, before, refused=error.code)
        after = self.state()
        ends = [lease.end or "" for lease in self._ended()[len(ended) :]]
        outcome = Task.objects.get(uuid=self.task_id).outcome if after.task == "resolved" != before.task else None
        return Step(before, verb, after, "", "".join(ends), outcome or "", tuple(self.journal()[written:]))

    def send(self) -> None:
        sending.send_task(self.alice, self._envelope(self.task_id))

    def send_first(self) -> None:
        """Send another task of the same work."""
        sending.send_task(self.alice, self._envelope(self.first_id))

    def end_first(self, status: ResultStatus) -> None:
        """End the other task of the same work, if there is one and it is not resolved."""
        if Task.objects.unresolved().filter(uuid=self.first_id).exists():
            results.post_result(self.bob, factories.result_envelope(self.first_id, status=status))

    def answer(self, status: ResultStatus) -> None:
        results.post_result(self.bob, factories.result_envelope(self.task_id, status=status))

    def let_time_pass(self) -> None:
        """Let the deadline and the work timeout pass, and let the sweep run."""
        self.clock.shift(2 * HOUR)
        expiry.sweep(Caller.command_line())

    def _envelope(self, task_id: UUID) -> TaskEnvelope:
        return factories.task_envelope(
            self.bob,
            id=task_id,
            idempotency=factories.idempotent("the same work"),
            deadline_ms=epoch_ms(START + HOUR) if task_id == self.task_id else None,
            work_timeout=HOUR,
        )

    def _ended(self) -> list[Lease]:
        return list(Lease.objects.filter(task__uuid=self.task_id, ended_at__isnull=False).order_by("attempt"))


def send_a_duplicate(scene: Scene) -> None:
    scene.send_first()
    scene.send()


def send_a_duplicate_of_cached_work(scene: Scene) -> None:
    scene.send_first()
    scene.end_first(ResultStatus.OK)
    scene.send()


BEGINNINGS: Mapping[str, Callable[[Scene], object]] = {
    "send": Scene.send,
    "send while another task does the same work": send_a_duplicate,
    "send work whose result is cached": send_a_duplicate_of_cached_work,
}
ATTEMPTS: Mapping[str, Callable[[Scene], object]] = {
    "send again": Scene.send,
    "lease": lambda scene: leasing.lease_task(scene.bob, scene.task_id),
    "heartbeat": lambda scene: leasing.heartbeat(scene.bob, scene.task_id),
    "post updates": lambda scene: updates.post_updates(scene.bob, scene.task_id, [Update(progress=0.5)]),
    "ask the sender": lambda scene: updates.post_updates(scene.bob, scene.task_id, [QUESTION]),
    "send a message": lambda scene: conversation.say(scene.alice, scene.task_id, MESSAGE),
    "release": lambda scene: leasing.release(scene.bob, scene.task_id, reason="later"),
    "post an ok result": lambda scene: scene.answer(ResultStatus.OK),
    "post a partial result": lambda scene: scene.answer(ResultStatus.PARTIAL),
    "post an error": lambda scene: scene.answer(ResultStatus.ERROR),
    "reject": lambda scene: results.post_result(scene.bob, REJECTION(scene.task_id)),
    "cancel": lambda scene: sending.cancel(scene.alice, scene.task_id),
    "requeue": lambda scene: repair.requeue(
        scene.olga, scene.task_id, reason="stuck", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED
    ),
    "force an error": lambda scene: repair.force_error(scene.olga, scene.task_id, reason="stuck", message="given up"),
    "retry automatically": lambda scene: retry.retry_stale(
        scene.olga, RetryPolicy(enabled=True, min_lease_age=AT_ONCE, max_requeues=MANY, scan_limit=MANY)
    ),
    "time runs out": Scene.let_time_pass,
    "the other task ends ok": lambda scene: scene.end_first(ResultStatus.OK),
    "the other task ends otherwise": lambda scene: scene.end_first(ResultStatus.ERROR),
    "drain": lambda scene: results.drain_results(scene.alice, limit=10),
    "acknowledge": lambda scene: results.ack_results(scene.alice, [scene.task_id]),
    "compact": lambda scene: compaction.compact(scene.ada, Retention(acked=AT_ONCE, delivered=AT_ONCE)),
    "clear": lambda scene: compaction.clear(scene.ada, dialect=DIALECT),
}
VERBS = {**BEGINNINGS, **ATTEMPTS}
