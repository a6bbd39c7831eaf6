from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from dashboard.base.page import DashboardView
from dashboard.wording import journal
from mailbox.inspection import lookup
from mailbox.inspection.lookup import CompactedTask, Found, TasksWith
from mailbox.inspection.search import queries
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.words.errors import InvalidRequestError

# The lists of a query, in this order. The first list that knows all its keys takes it.
LISTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("tasks", queries.TASK_KEYS),
    ("leases", queries.LEASE_KEYS),
    ("results", queries.RESULT_KEYS),
    ("audit", queries.EVENT_KEYS),
    ("agents", queries.AGENT_KEYS),
    ("deliveries", queries.DELIVERY_KEYS),
    ("idempotency", queries.REPLAY_KEYS),
    ("plans", queries.PLAN_KEYS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Something that a name may mean. ``about`` tells it from others of its kind; "" if there is no more to say."""

    kind: str
    name: str
    url: str
    about: str = ""


class Go(DashboardView):
    """The search box of the header. It redirects to what is named, or else to a list with the text as its query."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("id", "").strip()
        found = [meaning_of(one) for one in lookup.find(text)]
        if len(found) == 1:
            return HttpResponseRedirect(found[0].url)
        if not found and not lookup.is_id(text):
            return HttpResponseRedirect(list_of(text))
        context = {"sought": text[: queries.LONGEST], "found": found, "tasks": list_of(text)}
        return self.page("ops/go.html", context, status=200 if found else 404)


def list_of(text: str) -> str:
    """Return the address of the list that answers the query ``text``: of tasks, if no other one knows its keys."""
    if not text:
        return reverse("ops:tasks")
    for route, keys in LISTS:
        try:
            queries.parse(text, keys)
        except InvalidRequestError:
            continue
        return f"{reverse(f'ops:{route}')}?{urlencode({'q': text})}"
    return f"{reverse('ops:tasks')}?{urlencode({'q': text})}"


def meaning_of(found: Found) -> Meaning:
    """Return what the hub found with its page."""
    return _SHOWN[type(found)](found)


def _of(kind: str, route: str, name: object, about: str = "") -> Meaning:
    return Meaning(kind=kind, name=str(name), url=reverse(f"ops:{route}", args=[name]), about=about)


def _task(task: Any) -> Meaning:
    return _of("Task", "task", task.uuid, f"{task.sender} → {task.recipient}: {task.opening}")


def _lease(lease: Any) -> Meaning:
    return _of("Lease", "lease", lease.lease_id, f"held by {lease.holder}: {lease.opening}")


def _compacted(gone: CompactedTask) -> Meaning:
    if gone.lease_id:
        return _of("Compacted lease", "lease", gone.lease_id)
    return _of("Compacted task", "task", gone.task_id)


def _event(event: AuditEvent) -> Meaning:
    about = f"{journal.in_words(event).what} by {event.actor}"
    return Meaning(kind="Event", name=f"#{event.pk}", url=reverse("ops:audit-event", args=[event.pk]), about=about)


def _plan(plan: RepairPlan) -> Meaning:
    about = f"{plan.get_verb_display().lower()} by {plan.made_by}"
    return Meaning(kind="Bulk repair", name=f"#{plan.pk}", url=reverse("ops:plan", args=[plan.pk]), about=about)


def _cached(entry: ReplayEntry) -> Meaning:
    return Meaning(kind="Cached result", name=entry.key, url=reverse("ops:cached-result", args=[entry.pk]))


def _tasks(shared: TasksWith) -> Meaning:
    term = queries.term(shared.key, shared.value)
    return Meaning(kind="Tasks", name=term, url=f"{reverse('ops:tasks')}?{urlencode({'q': term})}")


_SHOWN: Mapping[type, Callable[[Any], Meaning]] = {
    Task: _task,
    Lease: _lease,
    CompactedTask: _compacted,
    AuditEvent: _event,
    RepairPlan: _plan,
    PushDelivery: lambda sent: _of("Callback", "delivery", sent.delivery_id, f"for task {sent.task_uuid}"),
    ReplayEntry: _cached,
    TasksWith: _tasks,
    Agent: lambda agent: _of("Agent", "agent", agent.display),
}
