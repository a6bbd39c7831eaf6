"""Measure the hub: python -m tools.bench [--section NAME...] [--help].

Each section is measured on new databases. Its figures replace those of the same section and database in the record,
docs/operate/benchmarks.json. The tables of docs/operate/benchmarks.md are then written from the record.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.hub import ROOT
from tools.bench import page, record
from tools.bench.hubs import database_url
from tools.bench.sections import SECTIONS
from tools.bench.sections.section import BOTH
from tools.proof.scenarios import two_versions

PAGES = ("docs/operate/benchmarks.md", "README.md")


def main() -> None:
    options = parsed()
    for name in options.section or SECTIONS:
        section = SECTIONS[name]
        for database in [one for one in options.databases if one in section.databases]:
            print(f"Measuring {name} on {database} ...", flush=True)  # noqa: T201
            with tempfile.TemporaryDirectory() as folder, database_url(database, Path(folder)) as url:
                measured = {
                    "stamp": record.stamp(url),
                    "options": {option: vars(options)[option] for option in section.options},
                    "figures": section.measure(url, Path(folder), options),
                }
            record.put(options.json, name, database, measured)
        print(page.block(name, record.load(options.json)))  # noqa: T201
    if options.json.resolve() == record.KEPT:
        without = os.environ | {"DATABASE_URL": ""}
        subprocess.run([sys.executable, "-m", "docs.generate", *PAGES], cwd=ROOT, env=without, check=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--section", nargs="+", choices=list(SECTIONS), help="sections to measure (default: all)")
    parser.add_argument("--databases", nargs="+", choices=BOTH, default=BOTH)
    parser.add_argument(
        "--json", type=Path, default=record.KEPT, help="record of the figures (default: docs/operate/benchmarks.json)"
    )
    parser.add_argument("--workers", type=int, default=2, help="web processes of the hub")
    parser.add_argument("--clients", type=int, default=8, help="client processes, each with a sender and a worker")
    parser.add_argument("--seconds", type=float, default=5, help="length of each run")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind; the best counts")
    parser.add_argument("--queued", type=int, default=1_000_000, help="tasks in the long queue")
    parser.add_argument("--lessees", type=int, default=4, help="client processes at the long queue")
    parser.add_argument("--batch", type=int, default=32, help="tasks in a batch")
    parser.add_argument("--waiters", type=int, default=4_000, help="agents that wait in one process")
    parser.add_argument("--sends", type=int, default=300, help="sends to waiting workers")
    parser.add_argument("--flow", type=float, default=50, help="cycles a second beside them")
    parser.add_argument("--blocking", type=int, default=64, help="clients that wait for the outcome of their message")
    parser.add_argument("--streams", type=int, default=500, help="open streams in one process, and as many long polls")
    parser.add_argument("--rest", type=float, default=20, help="seconds in which their cost is measured")
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=int,
        default=[1_000, 10_000, 100_000, 1_000_000],
        help="tasks in the tables of the section growth; 10000000 needs 60 GB of disk",
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="tasks in the database that is migrated")
    parser.add_argument("--before", default=two_versions.previous(), help="revision of the version before")
    return parser.parse_args()


if __name__ == "__main__":
    main()
