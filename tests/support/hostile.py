"""Hostile text in every field that strangers can write, and a reader that finds its effects in pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.life import conversation, leasing, outbox, results, updates
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.repairs import auto_retry, plans, repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words import errors
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks

BACKWARDS = "\u202e"
SCRIPTS = "<script>alert(1)</script><img src=x onerror=alert(1)>' onmouseover='alert(1)' \">"
MARKUP = f"{SCRIPTS}<b>{{{{ 7|add:7 }}}} &amp; {BACKWARDS}gnp.exe"
LONG = f"{MARKUP}\n{'very long ' * 10_000}end"
HUGE = 2**60
NAME = f"{'n' * 190}@{'h' * 9}"

VOID = {"meta", "link", "input", "br", "img", "use", "hr", "rect", "line", "path", "circle"}
ALONE = {"bdi", "pre", "textarea", "option", "title"}  # elements that confine right-to-left text


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One row of each kind, full of hostile text."""

    task: Task
    lease: Lease
    waiting: Task
    answered: Task
    entry: ReplayEntry
    delivery: PushDelivery
    scan: AuditEvent
    plan: RepairPlan
    asking: Task


def world() -> World:
    """Store hostile text through the verbs, in every field that a stranger can write; return the rows."""
    sender, holder = factories.agent(f"s{'e' * 190}", "a2a.send.*"), factories.agent(f"h{'o' * 190}", "a2a.respond.*")
    olga = Caller(name="user:olga", source=AuditEvent.Source.DASHBOARD, role=Role.OPERATOR)
    said = {"intent_text": LONG, "task_kind": MARKUP[:500], "context_id": MARKUP[:500]}
    carried = {MARKUP: [HUGE, MARKUP], "n": HUGE}
    promise = factories.idempotent(f"{MARKUP[:200]} key")
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": LONG},
        {"type": "json", "value": carried},
        {"type": "image", "mimeType": MARKUP, "data": MARKUP},
        {"type": "resource_link", "uri": f"javascript:{MARKUP}", "name": MARKUP},
        {"type": "resource", "resource": {"uri": MARKUP, "text": MARKUP}},
    ]
    done = factories.leased_task(
        sender,
        holder,
        **said,
        idempotency=promise,
        metadata=carried,
        callback_url=f"https://example.org/{quote(MARKUP)}",
    )
    results.post_result(holder, factories.result_envelope(done.task, content=blocks))
    factories.sent_task(sender, holder, **said, idempotency=promise)
    delivery = PushDelivery.objects.get()
    PushDelivery.objects.update(next_attempt_at=timezone.now())
    (claimed,) = claim_callbacks(1)
    outbox.report(claimed, DeliveryOutcome(status=500, problem=MARKUP))

    lease = factories.leased_task(
        sender, holder, **said, metadata=carried, idempotency=factories.idempotent(MARKUP[:300])
    )
    updates.post_updates(holder, lease.task.uuid, [Update(progress=0.1, note=MARKUP)])
    repair.requeue(olga, lease.task.uuid, reason=MARKUP, duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    (lease,) = leasing.lease_tasks(holder)
    waiting = factories.sent_task(
        sender, holder, **said, parent=lease.task.uuid, idempotency=factories.idempotent(MARKUP[:300])
    )
    asking = _conversation(sender, said, blocks)
    failed = factories.leased_task(sender, factories.agent("third", "a2a.respond.*"), **said)
    repair.force_error(olga, failed.task.uuid, reason=MARKUP, message=LONG[:10_000])
    registration.pause_agent(olga, factories.row_of(holder), reason=MARKUP)
    scan = auto_retry.run_once(olga, reason=MARKUP, worded=errors.text_for_person)
    live = Lease.objects.live()
    plan = plans.make(olga, RepairPlan.Verb.FORCE_ERROR, live, token=uuid4(), max_attempts=3, query=MARKUP)
    return World(
        task=lease.task,
        lease=lease,
        waiting=waiting,
        answered=done.task,
        entry=ReplayEntry.objects.get(key=promise.key),
        delivery=delivery,
        scan=scan,
        plan=plan,
        asking=asking,
    )


def _conversation(sender: Caller, sent: dict[str, str], blocks: Sequence[dict[str, Any]]) -> Task:
    """Return an interrupted task, with hostile text in every field of its messages and artifacts."""
    holder = factories.agent("asks", "a2a.respond.*")
    lease = factories.leased_task(sender, holder, **sent)
    beside = {MARKUP: [HUGE, MARKUP]}
    made = [
        ArtifactUpdate(content=blocks, artifact_id=MARKUP[:500], name=LONG, description=LONG, metadata=beside),
        ArtifactUpdate(content=blocks, artifact_id=f"{BACKWARDS}{'a' * 400}", extensions=[MARKUP], metadata=beside),
    ]
    updates.post_updates(
        holder, lease.task.uuid, [Update(message=blocks, message_id=MARKUP[:500], metadata=beside), *made]
    )
    words = Words(
        content=blocks, message_id=MARKUP[:500], extensions=[MARKUP], reference_task_ids=[MARKUP], metadata=beside
    )
    conversation.say(sender, lease.task.uuid, words)
    question = Update(message=blocks, status=UpdateStatus.AUTH_REQUIRED, metadata=beside)
    updates.post_updates(holder, lease.task.uuid, [question])
    return lease.task


class Reader(HTMLParser):
    """Parses a page as a browser would, and collects its scripts, event handlers, link targets and loose texts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.targets: list[str] = []
        self.loose: list[str] = []
        self.pre: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "style", "iframe", "object", "embed", "base"):
            self.scripts.append(given.get("src") or tag)
        self.handlers += [name for name in given if name.startswith("on") or name == "style"]
        self.targets += [value or "" for name, value in attrs if name in ("href", "src", "action", "hx-get", "hx-post")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "pre":
            self.pre.append("")

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "pre" in self.open:
            self.pre[-1] += data
        if BACKWARDS in data and not ALONE & set(self.open):
            self.loose.append(data.strip()[:80])
