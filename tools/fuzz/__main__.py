"""Fuzz the parsers, or a served hub: python -m tools.fuzz parsers|requests [--inputs N] [--seed N].

`parsers` gives the parsers N mutated examples. `requests` serves a hub and sends N requests that its OpenAPI document
allows or forbids. It then sends a fifth as many mutated examples of the official protocol, and as many of MCP. Both use
the database of DATABASE_URL, which must be empty; without it a new SQLite file.
The program ends with 1 if there is a defect.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SEED = 20_261_122


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("what", choices=RUNS)
    parser.add_argument("--inputs", type=int, help="a million for parsers, 25,000 for requests, unless given")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="a2a-fuzz-") as folder:
        os.environ["A2A_VAR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "a2aproject.settings"
        began = time.monotonic()
        defects = RUNS[given.what](given.inputs, given.seed, Path(folder))
        print(f"seed {given.seed}, {time.monotonic() - began:.0f} s, {defects} defects")  # noqa: T201
    return 1 if defects else 0


def fuzz_parsers(inputs: int | None, seed: int, folder: Path) -> int:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from tools.fuzz.inputs import run

    defects = total = 0
    for parser, count in run(inputs or 1_000_000, seed):
        row = (parser.name, count.inputs, count.accepted, f"{count.slowest * 1000:.0f} ms", len(count.defects))
        print("| " + " | ".join(map(str, row)) + " |", flush=True)  # noqa: T201
        for defect in count.defects[:20]:
            print(f"  {defect}", flush=True)  # noqa: T201
        defects += len(count.defects)
        total += count.inputs
    print(f"{total} inputs")  # noqa: T201
    return defects


def fuzz_requests(inputs: int | None, seed: int, folder: Path) -> int:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from tools.fuzz.consistency import problems
    from tools.fuzz.mcp_requests import McpSender
    from tools.fuzz.official_requests import OfficialSender, over_http
    from tools.fuzz.stand import stand

    wanted = inputs or 25_000
    with stand(folder, seed) as sender:
        sender.send(wanted)
        call = over_http(sender.url, sender.keys["agent"])
        official, mcp = OfficialSender(call=call, seed=seed), McpSender(call=call, seed=seed)
        official.send(wanted // 5)
        mcp.send(wanted // 5)
    answers = sender.answers
    print(f"{answers.sent} requests, {answers.unsent} not sent, slowest {answers.slowest:.1f} s")  # noqa: T201
    print(dict(sorted(answers.statuses.items())))  # noqa: T201
    print(f"official examples: {dict(sorted(official.statuses.items()))}")  # noqa: T201
    print(f"MCP examples: {dict(sorted(mcp.statuses.items()))}")  # noqa: T201
    defects = answers.defects + official.defects + mcp.defects + problems()
    for defect in defects[:SHOWN]:
        print(defect)  # noqa: T201
    return len(defects)


SHOWN = 100  # defects to print
RUNS: Mapping[str, Callable[[int | None, int, Path], int]] = {"parsers": fuzz_parsers, "requests": fuzz_requests}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
