"""Renders the record of measurements as the generated blocks of docs/operate/benchmarks.md."""

from collections.abc import Mapping
from typing import Any

from tools.bench.markdown import lines
from tools.bench.sections import SECTIONS

NOT_MEASURED = "This section was not measured yet.\n"


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the Markdown of each section, by its name."""
    return {name: block(name, record) for name in SECTIONS}


def block(name: str, record: Mapping[str, Any]) -> str:
    """Return the tables of one section, with the options and the machine of each database's measurement."""
    measured = {database: record.get(name, {}).get(database) for database in SECTIONS[name].databases}
    known = {database: one for database, one in measured.items() if one}
    if not known:
        return NOT_MEASURED
    tables = SECTIONS[name].tables({database: one["figures"] for database, one in known.items()})
    return f"{tables}\n{lines(machine(one) for one in known.values())}"


def machine(measured: Mapping[str, Any]) -> str:
    """Return the two sentences that say when and where one measurement was made."""
    stamp = measured["stamp"]
    changes = " with changes" if stamp["has_changes"] else ""
    return (
        f"- {stamp['database']}: {stamp['at']} UTC, commit `{stamp['commit']}`{changes}. {stamp['cores']} cores"
        f" ({stamp['cpu']}), {stamp['memory_gb']} GB, {stamp['kernel']}, Python {stamp['python']},"
        f" load {stamp['load_before']:.1f} before."
    )


def rates(record: Mapping[str, Any]) -> str:
    """Return the sentence of README.md on the rate of full cycles."""
    cycles = record["cycles"]
    cores = cycles["postgresql"]["stamp"]["cores"]
    sqlite, postgresql = (cycles[name]["figures"]["hub"]["cycles per second"] for name in ("sqlite", "postgresql"))
    return (
        f"A machine of {cores} cores carries about {sqlite:.0f} full cycles a second on SQLite, and about"
        f" {postgresql:.0f} on PostgreSQL\n([measurements](docs/operate/benchmarks.md)).\n"
    )
