"""The record of measurements: docs/operate/benchmarks.json, from which docs/operate/benchmarks.md takes its tables.

It is a JSON object: section, then database, then the stamp, the options and the figures of the newest measurement.
"""

import json
import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support.hub import ROOT

KEPT = ROOT / "docs" / "operate" / "benchmarks.json"
DIGITS = 4  # significant digits of each measured number


def load(file: Path) -> dict[str, Any]:
    """Return the record in the file, {} if there is no such file."""
    return dict(json.loads(file.read_text())) if file.exists() else {}


def put(file: Path, section: str, database: str, measured: Mapping[str, Any]) -> None:
    """Store one measurement in the file. Those of other sections and databases stay."""
    record = load(file)
    record.setdefault(section, {})[database] = rounded(measured)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{json.dumps(record, indent=1, sort_keys=True, default=str)}\n")


def rounded(value: Any) -> Any:
    """Return the value with each float cut to `DIGITS` significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value


def stamp(url: str) -> dict[str, object]:
    """Return when, on what machine, from which commit and with which versions a measurement is made."""
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return {
        "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "commit": _git("rev-parse", "--short", "HEAD"),
        "has_changes": bool(changes),
        "cores": psutil.cpu_count(),
        "cpu": _cpu(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "database": _database(url),
        "load_before": os.getloadavg()[0],
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)  # noqa: S607
    return done.stdout.strip()


def _cpu() -> str:
    """Return the name of the processor, as the kernel knows it."""
    try:
        named = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return named[1] if named else platform.machine()


def _database(url: str) -> str:
    if not url.startswith("postgres"):
        return f"SQLite {sqlite3.sqlite_version}"
    with psycopg.connect(url) as connection:
        version = connection.info.server_version
    return f"PostgreSQL {version // 10_000}.{version % 10_000}"
