"""The command palette: where a text leads, and what it may mean."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from dashboard import guide
from dashboard.base.frame import PLACES
from dashboard.base.page import DashboardView
from dashboard.saved_views import url_of
from dashboard.wording import journal
from mailbox.access.people import saved_views
from mailbox.inspection import lookup
from mailbox.inspection.search import keys, terms
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Result, Task
from mailbox.words.envelopes import DuplicateSafety
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind

# The lists of a query, in this order. The first list that knows all its keys takes it.
LISTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("tasks", keys.TASK_KEYS),
    ("leases", keys.LEASE_KEYS),
    ("results", keys.RESULT_KEYS),
    ("audit", keys.EVENT_KEYS),
    ("agents", keys.AGENT_KEYS),
    ("deliveries", keys.DELIVERY_KEYS),
    ("idempotency", keys.REPLAY_KEYS),
    ("plans", keys.PLAN_KEYS),
)
MOST = 6  # suggestions of a group
AGENT_KEYS = ("agent", "from", "to", "sender", "recipient", "name", "actor")


class Meaning(NamedTuple):
    """Something that a text may mean, at ``url``; without one, ``fill`` becomes the text of the search box.

    ``about`` tells it from others of its kind; "" if there is no more to say.
    """

    kind: str
    name: str
    about: str = ""
    url: str = ""
    fill: str = ""


class Go(DashboardView):
    """The search box of the header. It redirects to what is named, or else to a list with the text as its query."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("id", "").strip()
        meanings = [meaning_of(one) for one in lookup.find(text)]
        if len(meanings) == 1:
            return HttpResponseRedirect(meanings[0].url)
        if not meanings and not lookup.is_id(text):
            return HttpResponseRedirect(list_of(text))
        context = {"sought": text[: terms.LONGEST], "found": meanings, "tasks": list_of(text)}
        return self.page("ops/go.html", context, status=200 if meanings else 404)


def list_of(text: str) -> str:
    """Return the address of the list that answers the query ``text``: of tasks, if no other one knows its keys."""
    if not text:
        return reverse("ops:tasks")
    for route, known in LISTS:
        try:
            terms.parse(text, known)
        except InvalidRequestError:
            continue
        return f"{reverse(f'ops:{route}')}?{urlencode({'q': text})}"
    return f"{reverse('ops:tasks')}?{urlencode({'q': text})}"


def meaning_of(match: lookup.Match) -> Meaning:
    """Return what the hub found with its page."""
    return _SHOWN[type(match)](match)


def _at(kind: str, route: str, key: object, about: str = "", *, name: str = "") -> Meaning:
    return Meaning(kind=kind, name=name or str(key), url=reverse(f"ops:{route}", args=[key]), about=about)


def _compacted(gone: lookup.CompactedTask) -> Meaning:
    if gone.lease_id:
        return _at("Compacted lease", "lease", gone.lease_id)
    return _at("Compacted task", "task", gone.task_id)


def _event(event: AuditEvent) -> Meaning:
    about = f"{journal.in_words(event).what} by {event.actor}"
    return _at("Event", "audit-event", event.pk, about, name=f"#{event.pk}")


def _plan(plan: RepairPlan) -> Meaning:
    about = f"{plan.get_verb_display().lower()} by {plan.made_by}"
    return _at("Bulk repair", "plan", plan.pk, about, name=f"#{plan.pk}")


def _tasks(shared: lookup.TasksWith) -> Meaning:
    term = terms.term(shared.key, shared.value)
    return Meaning(kind="Tasks", name=term, url=f"{reverse('ops:tasks')}?{urlencode({'q': term})}")


_SHOWN: Mapping[type, Callable[[Any], Meaning]] = {
    Task: lambda task: _at("Task", "task", task.uuid, f"{task.sender} → {task.recipient}: {task.opening}"),
    Lease: lambda lease: _at("Lease", "lease", lease.lease_id, f"held by {lease.holder}: {lease.opening}"),
    lookup.CompactedTask: _compacted,
    AuditEvent: _event,
    RepairPlan: _plan,
    PushDelivery: lambda sent: _at("Callback", "delivery", sent.delivery_id, f"for task {sent.task_uuid}"),
    ReplayEntry: lambda entry: _at("Cached result", "cached-result", entry.pk, name=entry.key),
    lookup.TasksWith: _tasks,
    Agent: lambda agent: _at("Agent", "agent", agent.display),
}


VALUES: Mapping[str, Sequence[str]] = {
    "state": [*guide.STATES, *PushDelivery.State.values, *RepairPlan.State.values, "quiet", "paused"],
    "status": Result.Status.values,
    "delivery": Result.Delivery.values,
    "awaits": Task.Awaits.values,
    "safety": list(DuplicateSafety),
    "source": AuditEvent.Source.values,
    "verb": RepairPlan.Verb.values,
    "kind": sorted(Kind),
}


class Suggest(DashboardView):
    """The meanings that the text of the command palette may have, as a part of a page."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("id", "")[: terms.LONGEST].strip()
        suggestions = [
            one for group in (_objects, self._views, _pages, _completions) for one in islice(group(text), MOST)
        ]
        return self.page("ops/suggestions.html#list", {"found": suggestions, "sought": text})

    def _views(self, text: str) -> Iterator[Meaning]:
        for view in saved_views.named_like(self.person.pk, text, most=MOST):
            about = (
                f"{view.get_page_display()}, by {view.person.username}" if view.is_shared else view.get_page_display()
            )
            yield Meaning(kind="View", name=view.name, about=about, url=url_of(view))


def _objects(text: str) -> Iterator[Meaning]:
    yield from map(meaning_of, lookup.find(text))


def _pages(text: str) -> Iterator[Meaning]:
    for place in PLACES:
        if text.lower() in place.name.lower():
            yield Meaning(kind="Page", name=place.name, url=reverse(f"ops:{place.route}"))
    if text.lower() in "saved views":
        yield Meaning(kind="Page", name="Saved views", url=reverse("ops:views"))


def _completions(text: str) -> Iterator[Meaning]:
    """Yield the keys that the last word begins, or the values that its key can have."""
    before, _, last = text.rpartition(" ")
    minus, word = ("-", last[1:]) if last.startswith("-") else ("", last)
    key, colon, value = word.partition(":")
    start = f"{before} {minus}".lstrip()
    if not word:
        return
    if not colon:
        for name, about in _keys().items():
            if name.startswith(word.lower()):
                yield Meaning(kind="Key", name=f"{name}:", about=about, fill=f"{start}{name}:")
        return
    for found in _values(key.lower(), value):
        query = f"{start}{terms.term(key.lower(), found)}"
        yield Meaning(kind="Query", name=query, url=f"{reverse('ops:go')}?{urlencode({'id': query})}")


def _keys() -> Mapping[str, str]:
    """Return the keys of all lists. A key of several lists has its meaning in the first."""
    keys: dict[str, str] = {}
    for _, _, known, _ in reversed(guide.LANGUAGES):
        keys |= known
    return keys


def _values(key: str, value: str) -> Iterator[str]:
    yield from (one for one in dict.fromkeys(VALUES.get(key, ())) if one.startswith(value.lower()))
    if key in AGENT_KEYS:
        yield from (agent.display for agent in lookup.agents_beginning(value))
