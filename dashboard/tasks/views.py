"""The lists of tasks and of results, and the page of a task.

The page shows the life of the task as one stream: attempts, messages and artifacts in the order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from dashboard.base import export, preferences
from dashboard.base.list_page import ALL, ListPage
from dashboard.base.page import DashboardView, number_in
from dashboard.figures import thresholds
from dashboard.tasks import conversation
from dashboard.tasks.conversation import ArtifactList, AttemptTiming, Saying, Shown, Talk
from dashboard.wording import commands, payload
from dashboard.wording.journal import JournalLine, in_words
from mailbox.access.own_agents import OPERATORS
from mailbox.database.paging import Page
from mailbox.inspection import journal, leases, tasks
from mailbox.inspection.search import keys, queries, terms
from mailbox.life import push_configs
from mailbox.models import Lease, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.repairs.auto_retry import AutoRetry
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.a2a import states
from mailbox.words.envelopes import A2A
from mailbox.words.kinds import Kind

# The endings of attempts that no message and no result tells.
WITHOUT_MESSAGE = {
    Lease.End.REQUEUE,
    Lease.End.AUTO_REQUEUE,
    Lease.End.FORCE_ERROR,
    Lease.End.RELEASE,
    Lease.End.CANCEL,
    Lease.End.EXPIRED,
}
Read = TypeVar("Read")
ATTEMPTS, ACTS, CHILDREN, ALIKE, DELIVERIES = 50, 100, 20, 10, 5
NO_TALK, NO_ARTIFACTS = Talk(sayings=[], earlier=None), ArtifactList(shown=[], left=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStep:
    """One step of the stream. Exactly one of the first four fields is set.

    ``act`` is the journal row that ended the attempt, None if it was not read.
    """

    at: datetime
    began: AttemptTiming | None = None
    ended: AttemptTiming | None = None
    message: Saying | None = None
    made: Shown | None = None
    act: JournalLine | None = None

    @property
    def rank(self) -> int:
        """The order of steps at the same instant."""
        return 0 if self.ended else 1 if self.began else 2


def entries(
    talk: Talk, made: ArtifactList, attempts: Sequence[AttemptTiming], acts: Sequence[JournalLine], *, is_back: bool
) -> list[StreamStep]:
    """Return the steps, oldest first. Where messages are left out, the attempts of their time are left out too.

    ``is_back`` is whether newer messages are left out. Artifacts then stand on the newest page alone.
    """
    since = talk.sayings[0].at if talk.sayings and talk.earlier else None
    until = talk.sayings[-1].at if talk.sayings and is_back else None
    steps = [StreamStep(at=one.at, message=one) for one in talk.sayings]
    steps += [
        step
        for step in _attempts(attempts, acts)
        if (since is None or step.at >= since) and (until is None or step.at <= until)
    ]
    if not is_back:
        steps += [StreamStep(at=one.artifact.since, made=one) for one in made.shown]
    return sorted(steps, key=lambda step: (step.at, step.rank))


def quoted(acts: Sequence[JournalLine], talk: Talk) -> list[JournalLine]:
    """Return the journal rows, those of messages with the beginning of their text as the reason."""
    texts: Mapping[int | None, str] = {one.seq: one.opening for one in talk.sayings}
    return [replace(act, reason=act.reason or texts.get(act.event.seq, "")) for act in acts]


def _attempts(attempts: Sequence[AttemptTiming], acts: Sequence[JournalLine]) -> Iterator[StreamStep]:
    ends = {act.event.at: act for act in acts if act.is_life and act.reason}
    for one in attempts:
        yield StreamStep(at=one.lease.leased_at, began=one)
        if one.lease.ended_at and one.lease.end in WITHOUT_MESSAGE:
            yield StreamStep(at=one.lease.ended_at, ended=one, act=ends.get(one.lease.ended_at))


@dataclass(slots=True, kw_only=True)
class Previews:
    """The part that a person chose by its name, ``chosen``, and parts of a declared type while the page has ``room``.

    ``room`` is in characters.
    """

    chosen: str
    room: int = payload.MOST_RENDERED

    def of(self, part: payload.Part) -> SafeString | None:
        """Return the preview of a part as HTML, None for a part that stays text."""
        text = part.text or ""
        if not part.has_preview or (part.name != self.chosen and not part.is_markdown):
            return None
        if part.name != self.chosen:
            if len(text) > self.room:
                return None
            self.room -= len(text)
        return payload.rendered(text)


class TaskDetailPage(DashboardView):
    """A task with its state, its history, its payload and its relatives."""

    @method_decorator(csp_update({"media-src": [SELF]}))  # sounds play in place
    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        task = tasks.whole_task(task_id)
        attempts = leases.attempts_at(task, most=ATTEMPTS)
        # The lease of the task as it was read above: the lease may have ended, or another may have begun, since then.
        newest = next((one for one in attempts if one.attempt == task.attempt), None)
        lease = newest if task.state == Task.State.IN_FLIGHT else None
        about = journal.newest_about(task_id, most=ACTS)
        acts = [in_words(event) for event in about.items]
        now_so = self._now(task, lease)
        before = number_in(request.GET.get("before", ""), 9)
        questions = {act.event.seq or 0 for act in acts if act.event.kind == Kind.TASK_ASKED}
        timings = conversation.attempts(task, attempts, self.now)
        talk = _lazily(lambda: _talk(task, questions, before))
        made = _lazily(lambda: conversation.made(task) if task.has_artifacts else NO_ARTIFACTS)
        life = [act for act in reversed(acts) if act.is_life]
        hides = preferences.Preferences.of(request).hide_payloads
        context = {
            **now_so,
            "talk": talk,
            "made": made,
            "stream": _lazily(lambda: entries(talk, made, timings, acts, is_back=before is not None)),
            "is_back": before is not None,
            "previews": Previews(chosen=request.GET.get("markdown", "")),
            "task": task,
            "state_for_clients": states.of_task(task.state, task.awaits, task.outcome),
            "asking": newest if task.state == Task.State.INTERRUPTED else None,
            "attempts": timings,
            "cards": _lazily(lambda: conversation.cards(life if hides else quoted(life, talk))),
            "beside": [act for act in acts if not act.is_life],
            "is_cut": about.next_cursor is not None,
            **self._carried(task),
            **self._related(task),
            **self._notified(task),
            "copy_of": _original(task_id, acts, is_cut=about.next_cursor is not None),
            "curl": commands.get(f"/a2a/tasks/{task_id}/entry"),
            "command": _command(task, lease),
        }
        seen = task.journal_seq, now_so["state"], len(acts), lease and lease.last_seen_at, task.cached_hits
        return self.live("ops/task.html", context, (seen, _relatives(context)))

    def _now(self, task: Task, lease: Lease | None) -> dict[str, Any]:
        """Return the context of the state sentence and of the lease."""
        policy = AutoRetry.from_settings().policy
        stale_after = thresholds.stale_after()
        is_stale = lease is not None and lease.is_stale(self.now, stale_after)
        waits = "waiting" if task.waits_on_id is not None else None
        left = (
            None
            if task.deadline_ms is None
            else timedelta(milliseconds=task.deadline_ms, seconds=-self.now.timestamp())
        )
        return {
            "lease": lease,
            "is_stale": is_stale,
            "stale_after": stale_after,
            "stale_by": self.now - lease.leased_at - stale_after if lease and is_stale else None,
            "max_attempts": policy.max_attempts,
            "state": "stale" if is_stale else waits or task.outcome or task.state,
            "left": left,
            "is_late": left is not None and left <= timedelta(0),
            "late_by": -left if left is not None else None,
        }

    def _carried(self, task: Task) -> dict[str, Any]:
        result = task.result_or_none
        return {
            "parts": payload.of_task(task.intent_text, task.metadata),
            "result": result,
            "answer": payload.of_blocks(result.blocks) if result else [],
            "problem": result.error_message if result else None,
            "blocks_left": max(0, len(result.blocks) - payload.BLOCKS_SHOWN) if result else 0,
            "shown": payload.SHOWN,
            "by_hand": task.sender.display == OPERATORS,
        }

    def _related(self, task: Task) -> dict[str, Any]:
        at = self.now, self.at.stale_after
        related: dict[str, Any] = {}
        for name, kin, most in (("children", tasks.children(task), CHILDREN), ("alike", tasks.alike(task), ALIKE)):
            rows = list(kin.with_opening().with_stale(*at)[: most + 1])
            related |= {name: rows[:most], f"has_more_{name}": len(rows) > most}
        return related

    def _notified(self, task: Task) -> dict[str, Any]:
        """Return the webhooks of a task and its newest callbacks and events."""
        webhooks = push_configs.configs_of_task(task) if task.dialect == A2A else []
        if not webhooks and not task.calls_back:
            return {"webhooks": webhooks, "deliveries": []}
        deliveries = queries.deliveries(terms.term("task", str(task.uuid)), self.at).with_last_attempt().defer("body")
        return {"webhooks": webhooks, "deliveries": list(deliveries.order_by("-pk")[:DELIVERIES])}


def _lazily(read: Callable[[], Read]) -> Read:
    """Return what ``read`` returns, read on its first use: a page that did not change never reads it."""
    return cast(Read, SimpleLazyObject(read))


def _talk(task: tasks.WholeTask, questions: Collection[int], before: int | None) -> Talk:
    return conversation.talk(task, questions, before=before) if task.has_messages else NO_TALK


def _original(task_id: UUID, acts: Collection[JournalLine], *, is_cut: bool) -> str | None:
    """Return the id of the task of which this one is a copy. Its first act says so, unless the acts are cut."""
    if is_cut:
        return journal.copied_from(task_id)
    return next((original for act in acts if (original := act.event.fields.get("copy_of"))), None)


def _relatives(context: Mapping[str, Any]) -> object:
    """Return what changes when the rows beside the task look different."""
    result = context["result"]
    kin = [(one.pk, one.state, one.outcome, one.is_stale) for one in [*context["children"], *context["alike"]]]
    callbacks = [(one.pk, one.state, one.attempts, one.last_at) for one in context["deliveries"]]
    hooks = [(one.pk, one.told_seq, one.failures, one.disabled_at) for one in context["webhooks"]]
    return result and result.delivery, kin, callbacks, hooks


def _command(task: Task, lease: Lease | None) -> str:
    if lease is None:
        return f"a2a task show {task.uuid}"
    risk = DuplicateRisk.IDEMPOTENT if task.is_idempotent else DuplicateRisk.OPERATOR_ACCEPTED
    return commands.requeue(task.uuid, lease.lease_id, risk=risk, reason="")


class TaskList(ListPage):
    """All tasks, newest first."""

    name = "tasks"
    has_full_text = True
    keys = keys.TASK_KEYS
    tab, tabs = "state", ("queued", "in_flight", "stale", "interrupted", *Task.Outcome.values)
    parameters: ClassVar = {"finished": ("finished", "")}
    columns: ClassVar = export.columns(
        "id=uuid state awaits sender=sender.display recipient=recipient.display attempt turn kind=task_kind "
        "idempotency_key parent sent_at resolved_at error_message intent_text",
        state=lambda task: task.outcome or task.state,
    )

    def matching(self, text: str) -> TaskQuerySet:
        return queries.tasks(text, self.at).with_parties().with_stale(self.now, self.at.stale_after)

    def listed(self, rows: TaskQuerySet) -> TaskQuerySet:
        return rows.with_opening().with_error_line()

    def exported(self, rows: TaskQuerySet) -> TaskQuerySet:
        return rows.with_error()

    def total(self, rows: TaskQuerySet, page: Page[Any]) -> thresholds.Count:
        """Return the number of all tasks. Every task in flight has one live lease, and these are counted sooner."""
        if self.query == terms.term(self.tab, "in_flight"):
            return thresholds.counted(leases.live(self.now))
        if self.query == terms.term(self.tab, "stale"):
            return thresholds.counted(leases.live(self.now, self.at.stale_after))
        return super().total(rows, page)

    def version_of(self, row: Any) -> object:
        return row.pk, row.journal_seq, row.is_stale


class ResultList(ListPage):
    """Results by their delivery. Undelivered results come oldest first."""

    name = "results"
    has_full_text = True
    keys = keys.RESULT_KEYS
    tab, tabs = "delivery", (*Result.Delivery.values, ALL)
    default = Result.Delivery.PENDING
    parameters: ClassVar = {"status": ("status", ""), "posted": ("posted", ""), "within": ("age", "<")}
    columns: ClassVar = export.columns(
        "task_id=task.uuid status sender=sender.display recipient=recipient.display delivery posted_at replayed_from "
        "error_message"
    )

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return self.chosen != Result.Delivery.PENDING

    def matching(self, text: str) -> ResultQuerySet:
        return queries.results(text, self.at).with_opening()

    def listed(self, rows: ResultQuerySet) -> ResultQuerySet:
        return rows.with_error_line()
