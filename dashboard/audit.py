"""The list of the journal with the figures of its rows, and the page of a row."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard.base import export
from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView, id_in, number_in, present
from dashboard.figures import thresholds
from dashboard.wording import journal, json_tree
from mailbox.database.paging import Page
from mailbox.inspection import lookup
from mailbox.inspection.search import keys, queries, terms
from mailbox.models import AuditEvent, audit
from mailbox.words.kinds import Kind

SAMPLE = 1_000  # rows that are counted, the newest
CHIPS, BARS = 6, 60
WIDTH, HEIGHT = 720, 56
NO_CHECKS = f"-kind:{Kind.CAPABILITY_CHECK}"
EVER = "1970-01-02T00:00"  # before every row


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A value that rows have. ``query`` narrows the list to it, or widens the list if the value ``is_chosen``."""

    label: str
    count: int
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    name: str
    chips: Sequence[Chip]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBar:
    """The rows from ``start`` to ``end``. ``query`` narrows the list to them."""

    x: float
    y: float
    width: float
    height: float
    count: int
    start: datetime
    end: datetime
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFigures:
    """The figures of the newest `SAMPLE` rows. ``peak`` is the largest count of a bar."""

    facets: Sequence[Facet]
    bars: Sequence[TimeBar]
    ticks: Sequence[tuple[float, str]]
    peak: int
    count: int


def read(events: audit.AuditEventQuerySet, text: str) -> AuditFigures:
    """Return the figures of ``events``, the rows of the query ``text``."""
    rows: list[tuple[Any, ...]] = list(
        events.order_by("-pk").values_list("at", "kind", "actor", "actor_pubkey", "source")[:SAMPLE]
    )
    kinds = Counter(kind for _, kind, *_ in rows)
    people = Counter(actor for _, _, actor, key, _ in rows if key is None)
    agents = Counter(actor for _, _, actor, key, _ in rows if key is not None)
    sources = Counter(source for *_, source in rows)
    facets = [
        Facet(name="Event", chips=_chips("kind", kinds, text, journal.NAMES)),
        Facet(name="Agent", chips=_chips("actor", agents, text)),
        Facet(name="Other actor", chips=_chips("actor", people, text)),
        Facet(name="Source", chips=_chips("source", sources, text)),
    ]
    bars = list(_bars([row[0] for row in rows], text))
    ticks = _ticks(bars)
    return AuditFigures(
        facets=[facet for facet in facets if facet.chips],
        bars=[bar for bar in bars if bar.count],
        ticks=ticks,
        peak=max((bar.count for bar in bars), default=0),
        count=len(rows),
    )


def _chips(key: str, counts: Counter[str], text: str, names: Mapping[str, str] | None = None) -> list[Chip]:
    chosen, rest = terms.chosen(text, key), terms.without(text, key)
    return [
        Chip(
            label=(names or {}).get(value, value),
            count=count,
            query=rest if value == chosen else f"{rest} {terms.term(key, value)}".strip(),
            is_chosen=value == chosen,
        )
        for value, count in counts.most_common(CHIPS)
    ]


def _bars(times: Sequence[datetime], text: str) -> Iterable[TimeBar]:
    """Yield `BARS` bars of equal spans, in whole seconds, from the oldest row to the newest."""
    if len(times) < 2:
        return
    start = min(times).replace(microsecond=0)
    step = timedelta(seconds=max(1, -(-int((max(times) - start).total_seconds() + 1) // BARS)))
    counts = Counter((time - start) // step for time in times)
    peak, width, rest = max(counts.values()), WIDTH / BARS, terms.without(text, "at")
    for number in range(BARS):
        begins, ends = start + number * step, start + (number + 1) * step
        height = round(counts[number] / peak * HEIGHT, 1)
        yield TimeBar(
            x=round(number * width, 1),
            y=round(HEIGHT - height, 1),
            width=round(width - 1, 1),
            height=height,
            count=counts[number],
            start=begins,
            end=ends,
            query=f"{rest} at:{_written(begins)}..{_written(ends)}".strip(),
        )


def _ticks(bars: Sequence[TimeBar]) -> list[tuple[float, str]]:
    """Return the places of every twelfth bar with its time: seconds for minutes, and days for more than one."""
    if not bars:
        return []
    span = bars[-1].end - bars[0].start
    shape = "%H:%M:%S" if span < timedelta(minutes=30) else "%H:%M" if span < timedelta(days=1) else "%m-%d %H:%M"
    return [(bar.x, timezone.localtime(bar.start).strftime(shape)) for bar in bars[:: BARS // 5]]


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


TABS = (
    ("All", ""),
    ("Without capability checks", NO_CHECKS),
    ("Repairs", "kind:a2a_repair_*"),
    ("Capabilities", "kind:capability_*"),
    ("Dashboard users", f"source:{AuditEvent.Source.DASHBOARD}"),
    ("Failed API-key logins", f"kind:{Kind.AUTHENTICATION_FAILED}"),
)


class AuditList(ListPage):
    """The journal, newest first. An address without a query leaves out the checks of capabilities."""

    name = "audit"
    keys, tabs = keys.EVENT_KEYS, TABS
    columns: ClassVar = export.columns("id=pk at kind actor source task_id seq request_id address data")

    @property
    def query(self) -> str:
        params = self.request.GET
        start, end = (params.get(name, "").strip() for name in ("from", "to"))
        query = params.get("q", NO_CHECKS).strip()
        if not start and not end:
            return query
        return f"{terms.without(query, 'at')} {terms.term('at', f'{start or EVER}..{end}')}".strip()

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), **({"follow": "1"} if self.follows else {})}

    @property
    def follows(self) -> bool:
        """Whether new events appear at the top by themselves."""
        return self.request.GET.get("follow") == "1"

    def matching(self, text: str) -> audit.AuditEventQuerySet:
        return queries.events(text, self.at)

    def total(self, rows: audit.AuditEventQuerySet, page: Page[Any]) -> thresholds.Count:
        """Count from the newest row on. In another order, a count since a moment reads the whole journal."""
        return thresholds.counted(rows, newest_first=True, has_words=terms.asks_words(self.query))

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "acts": [journal.in_words(event) for event in page.items],
            "figures": read(self.rows, self.query),
            "follows": self.follows,
            "is_filtered": self.query not in ("", NO_CHECKS),
        }


class AuditPage(DashboardView):
    """A row of the journal, at a permanent address."""

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        event = present(lookup.event(present(number_in(number))))
        tree, _ = json_tree.tree_of(event.fields, json_tree.MOST)
        older, newer = lookup.neighbours(event)
        context = {
            "act": journal.in_words(event),
            "event": event,
            "tree": tree,
            "older": older,
            "newer": newer,
            "lease_id": id_in(str(event.fields.get("lease_id"))),
            "agents": lookup.agents_named(_names(event)),
        }
        return self.page("ops/audit_event.html", context)


def _names(event: AuditEvent) -> list[str]:
    """Return the names of agents that a row may have: of its actor, and in its data."""
    return [one for one in (event.actor, *event.fields.values()) if isinstance(one, str) and "@" in one]
