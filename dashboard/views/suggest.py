from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from dashboard.base.frame import PLACES
from dashboard.base.page import DashboardView
from dashboard.base.saved_views import url_of
from dashboard.views import guide
from dashboard.views.go import meaning_of
from mailbox.access.people import saved_views
from mailbox.inspection import lookup
from mailbox.inspection.search import queries
from mailbox.models import AuditEvent, PushDelivery, RepairPlan, Result, Task
from mailbox.words.envelopes import DuplicateSafety
from mailbox.words.kinds import Kind

MOST = 6  # suggestions of a group
AGENT_KEYS = ("agent", "from", "to", "sender", "recipient", "name", "actor")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A line of the palette. It leads to ``url``; without one, ``fill`` becomes the text of the box."""

    kind: str
    name: str
    about: str = ""
    url: str = ""
    fill: str = ""


class Suggest(DashboardView):
    """The meanings that the text of the command palette may have, as a part of a page."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("id", "")[: queries.LONGEST].strip()
        found = [one for group in (_objects, self._views, _pages, _completions) for one in islice(group(text), MOST)]
        return self.page("ops/suggestions.html#list", {"found": found, "sought": text})

    def _views(self, text: str) -> Iterator[Suggestion]:
        for view in saved_views.named_like(self.person.pk, text, most=MOST):
            about = (
                f"{view.get_page_display()}, by {view.person.username}" if view.is_shared else view.get_page_display()
            )
            yield Suggestion(kind="View", name=view.name, about=about, url=url_of(view))


def _objects(text: str) -> Iterator[Suggestion]:
    for one in map(meaning_of, lookup.find(text)):
        yield Suggestion(kind=one.kind, name=one.name, about=one.about, url=one.url)


def _pages(text: str) -> Iterator[Suggestion]:
    for place in PLACES:
        if text.lower() in place.name.lower():
            yield Suggestion(kind="Page", name=place.name, url=reverse(f"ops:{place.route}"))
    if text.lower() in "saved views":
        yield Suggestion(kind="Page", name="Saved views", url=reverse("ops:views"))


def _completions(text: str) -> Iterator[Suggestion]:
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
                yield Suggestion(kind="Key", name=f"{name}:", about=about, fill=f"{start}{name}:")
        return
    for found in _values(key.lower(), value):
        query = f"{start}{queries.term(key.lower(), found)}"
        yield Suggestion(kind="Query", name=query, url=f"{reverse('ops:go')}?{urlencode({'id': query})}")


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
