"""The page of who sends to whom, and its map as plain geometry. The same data always gives the same picture.

A point of the picture is a complex number. Times 1j, a way is turned to its right.
"""

import cmath
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView, choice_of
from dashboard.figures.plots import Range
from mailbox.inspection.statistics import agents as agents_module
from mailbox.inspection.statistics.agents import Pair
from mailbox.models import Agent

AGENTS = 40  # nodes; the other agents are one node
EDGES = 200
WIDTH, HEIGHT = 960, 640
MIDDLE = complex(WIDTH, HEIGHT) / 2
RADIUS = (300, 250)
OTHERS = "others"
SOME, MANY = 0.05, 0.25  # shares of errors from which an edge is marked
RANGES = {
    "1h": Range(name="1h", span=timedelta(hours=1), step=timedelta(minutes=10)),
    "24h": Range(name="24h", span=timedelta(hours=24), step=timedelta(hours=1)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode:
    """An agent on the circle, or all other agents: then ``agent`` is None. ``size`` is its radius."""

    name: str
    agent: Agent | None
    x: float
    y: float
    size: float
    count: int  # tasks that it sent or received
    anchor: str  # of the label: start, middle or end
    label_x: float
    label_y: float

    @property
    def place(self) -> complex:
        return complex(self.x, self.y)

    @property
    def queued(self) -> int:
        return getattr(self.agent, "queued", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapEdge:
    """The tasks from one node to another. ``path`` is its curve, ``head`` the arrow at its end."""

    sender: str
    recipient: str
    sent: int
    results: int
    errors: int
    path: str
    head: str
    width: float
    x: float  # of its label
    y: float

    @property
    def error_share(self) -> float | None:
        """The errors in per cent of the results; None without results."""
        return 100 * self.errors / self.results if self.results else None

    @property
    def level(self) -> str:
        """How much of it fails: none, some or many."""
        share = self.errors / self.results if self.results else 0.0
        return "many" if share >= MANY else "some" if share >= SOME else "none"

    @property
    def is_whole(self) -> bool:
        """Whether both ends are one agent, so that a list of tasks shows the edge."""
        return OTHERS not in (self.sender, self.recipient)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowMap:
    nodes: Sequence[MapNode]
    edges: Sequence[MapEdge]  # the busiest first
    left_out: int  # edges

    @property
    def has_others(self) -> bool:
        """Whether agents without a name of their own are one node."""
        return any(node.agent is None for node in self.nodes)

    @property
    def version(self) -> object:
        """A value that changes when the map looks different."""
        return [(edge.sender, edge.recipient, edge.sent, edge.errors) for edge in self.edges], [
            (node.name, node.queued) for node in self.nodes
        ]


def busiest(pairs: Iterable[Pair]) -> list[int]:
    """Return the `AGENTS` agents with most tasks, by primary key, the busiest first."""
    counts = _counts(pairs)
    return sorted(counts, key=lambda agent: (-counts[agent], agent))[:AGENTS]


def draw(pairs: Sequence[Pair], agents: Mapping[int, Agent]) -> FlowMap:
    """Return the map of ``agents``, each with ``queued``. The other agents of ``pairs`` are one node."""
    named = {pk: agent.display for pk, agent in agents.items()}
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for pair in pairs:
        ends = named.get(pair.sender, OTHERS), named.get(pair.recipient, OTHERS)
        for place, count in enumerate((pair.sent, pair.results, pair.errors)):
            sums[ends][place] += count
    counts: dict[str, int] = defaultdict(int)
    for (sender, recipient), (sent, *_) in sums.items():
        counts[sender] += sent
        counts[recipient] += sent
    by_name = {agent.display: agent for agent in agents.values()}
    nodes = _nodes(sorted(counts, key=lambda name: (name == OTHERS, name)), counts, by_name)
    places = {node.name: node for node in nodes}
    order = sorted(sums, key=lambda ends: (-sums[ends][0], ends))
    top = max((sent for sent, *_ in sums.values()), default=0) or 1
    edges = [_edge(places[ends[0]], places[ends[1]], sums[ends], top) for ends in order[:EDGES]]
    return FlowMap(nodes=nodes, edges=edges, left_out=max(0, len(order) - EDGES))


def _counts(pairs: Iterable[Pair]) -> dict[int, int]:
    counts: dict[int, int] = defaultdict(int)
    for pair in pairs:
        counts[pair.sender] += pair.sent + pair.results
        counts[pair.recipient] += pair.sent + pair.results
    return counts


def _nodes(names: Sequence[str], counts: Mapping[str, int], agents: Mapping[str, Agent]) -> list[MapNode]:
    top = max(counts.values(), default=0) or 1
    arcs = []
    for place, name in enumerate(names):
        turn = 2 * math.pi * place / len(names) - math.pi / 2
        across, down = math.cos(turn), math.sin(turn)
        size = 6 + 10 * math.sqrt(counts[name] / top)
        x, y = WIDTH / 2 + RADIUS[0] * across, HEIGHT / 2 + RADIUS[1] * down
        arcs.append(
            MapNode(
                name=name,
                agent=agents.get(name),
                x=round(x, 1),
                y=round(y, 1),
                size=round(size, 1),
                count=counts[name],
                anchor="middle" if abs(across) < 0.2 else "start" if across > 0 else "end",
                label_x=round(x + (size + 6) * across, 1),
                label_y=round(y + (size + 10) * down + 4, 1),
            )
        )
    return arcs


def _edge(start: MapNode, end: MapNode, sums: Sequence[int], top: int) -> MapEdge:
    width = 1.5 + 6.5 * math.sqrt(sums[0] / top)
    path, head, label = _loop(start, width) if start is end else _curve(start, end, width)
    return MapEdge(
        sender=start.name,
        recipient=end.name,
        sent=sums[0],
        results=sums[1],
        errors=sums[2],
        path=path,
        head=head,
        width=round(width, 1),
        x=round(label.real, 1),
        y=round(label.imag, 1),
    )


def _curve(start: MapNode, end: MapNode, width: float) -> tuple[str, str, complex]:
    """Return the curve between two nodes, bent to its right, so that the way back is another curve."""
    way, middle = end.place - start.place, (start.place + end.place) / 2
    knee = middle + 0.12 * way * 1j + (MIDDLE - middle) * 0.25
    first, last = _towards(start, knee, start.size), _towards(end, knee, end.size + 5 + width)
    label = 0.25 * first + 0.5 * knee + 0.25 * last
    return f"M{_at(first)}Q{_at(knee)} {_at(last)}", _head(last, _towards(end, knee, end.size + 1), width), label


def _loop(node: MapNode, width: float) -> tuple[str, str, complex]:
    """Return the curve from a node to itself, outside of the circle."""
    away = cmath.phase(node.place - MIDDLE)
    near, other = (cmath.rect(1, away + turn) for turn in (-0.9, 0.9))
    first, last = node.place + near * node.size, node.place + other * (node.size + 5 + width)
    knees = [node.place + side * (node.size + 42) for side in (near, other)]
    path = f"M{_at(first)}C{_at(knees[0])} {_at(knees[1])} {_at(last)}"
    return path, _head(last, node.place + other * (node.size + 1), width), (knees[0] + knees[1]) / 2


def _head(last: complex, tip: complex, width: float) -> str:
    aside = _unit(tip - last) * 1j * (2.5 + width)
    return f"M{_at(last + aside)}L{_at(tip)}L{_at(last - aside)}Z"


def _towards(node: MapNode, to: complex, by: float) -> complex:
    """Return the point that lies ``by`` from the middle of the node, on the line to another point."""
    return node.place + _unit(to - node.place) * by


def _unit(way: complex) -> complex:
    return way / (abs(way) or 1.0)


def _at(point: complex) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"


class Map(DashboardView):
    """The volumes between agents, as a picture and as a table."""

    def get(self, request: HttpRequest) -> HttpResponse:
        scale = RANGES[choice_of("range", request.GET.get("range"), RANGES, "1h")]
        start = scale.start(self.now)
        traffic = agents_module.read_pairs(start, span=scale.step // timedelta(minutes=1))
        drawn = draw(traffic.pairs, agents_module.with_backlog(busiest(traffic.pairs)))
        context = {
            "map": drawn,
            "is_cut": traffic.is_cut,
            "since": start,
            "sent": sum(pair.sent for pair in traffic.pairs),
            "scale": scale,
            "ranges": RANGES.values(),
            "shows": choice_of("view", request.GET.get("view"), ["map", "table"], "map"),
            "most": AGENTS,
        }
        return self.live("ops/map.html", context, drawn.version)
