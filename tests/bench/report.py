"""Prints the measurements as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.bench.cycles import VERBS


def tables(found: Mapping[str, Any]) -> str:
    """Return the measurements as text, database by database."""
    databases = {name: found[name] for name in ("postgresql", "sqlite") if name in found}
    return "\n\n".join(["", _cycles(databases), *(_time(name, one) for name, one in databases.items())])


def _cycles(databases: Mapping[str, Any]) -> str:
    lines: list[tuple[str, ...]] = [("", "hub/s", "raw/s", "ratio", "lease p50", "p99 ms", "long queue p50", "p99 ms")]
    for name, one in databases.items():
        queue = one.get("long queue", {})
        lease = one["hub"]["lease"]
        figures = [one["hub"]["cycles per second"], one["raw"]["cycles per second"]]
        latencies = [lease["p50"], lease["p99"], queue.get("p50"), queue.get("p99")]
        lines.append((name, *map(_whole, figures), _tenth(one["ratio"]), *map(_tenth, latencies)))
    return "Full cycles (send, lease, result, drain), best run\n" + aligned(lines)


def _time(name: str, one: Mapping[str, Any]) -> str:
    """Return how a request spends its time, without load, and the CPU time under load."""
    lines: list[tuple[str, ...]] = [
        ("ms alone", "look-up", "statements", "Django, DRF, verb", "server, client", "total")
    ]
    for verb in VERBS:
        share, total = one["shares"][verb], one["alone"][verb]
        inside = [share["look_up"], share["statements"], share["rest"]]
        lines.append((verb, *map(_hundredth, [*inside, max(0.0, total - sum(inside)), total])))
    cpu = ", ".join(f"{part} {spent:.1f}" for part, spent in one["cpu ms per cycle"].items())
    return f"{name}: where the time of a request goes\n{aligned(lines)}\n  CPU ms a cycle under load: {cpu}"


def aligned(lines: Iterable[Iterable[str]]) -> str:
    rows = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def _whole(number: float) -> str:
    return f"{number:.0f}"


def _tenth(number: float | None) -> str:
    return "-" if number is None else f"{number:.1f}"


def _hundredth(number: float) -> str:
    return f"{number:.2f}"
