"""The official protocol: messages that wait for their outcome, beside the SDK's own server; and streams held open."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

import psutil

from tests.load.cast import Pair, pairs, team
from tests.support.hub import Hub, served
from tools.bench import blocking, cycles, sdk_server, waiters
from tools.bench.batch_worker import working
from tools.bench.blocking import Spenders
from tools.bench.hubs import postgresql_processes, web_processes
from tools.bench.idle import cost, settle
from tools.bench.markdown import DATABASES, number, table
from tools.bench.open_streams import streaming
from tools.bench.sdk_server import SdkServer
from tools.bench.sections.section import Figures, Section
from tools.bench.short import short_requests

OF_CYCLES = ("web", "database", "clients")
SPENDERS = (*OF_CYCLES, "worker")
SERVERS = {
    "hub": "the hub",
    sdk_server.DATABASE: "the SDK's server",
    sdk_server.MEMORY: "the SDK's server, tasks in memory",
}
OPTIONS = ("blocking", "batch", "clients", "seconds", "runs", "workers", "streams", "rest", "flow")

Measure = Callable[[], Figures]


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    waiters.admit_many_files()
    return {"blocking": _blocking(url, folder, options), "streams": _streams(url, folder, options)}


def _blocking(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Run all kinds in turns, so that each run has the same load beside it. Return the best run of each."""
    with ExitStack() as kept:
        hub = kept.enter_context(
            served(folder, services="all", migrates=True, database_url=url, workers=options.workers)
        )
        measures = _of_hub(hub, url, options, kept)
        for name, server in kept.enter_context(sdk_server.both(folder)).items():
            measures[name] = _of_sdk(server, url, options)
        runs = [{name: once() for name, once in measures.items()} for _ in range(options.runs)]
    best = {name: max((run[name] for run in runs), key=lambda one: float(one["per second"])) for name in measures}
    return {"clients": options.blocking, **best}


def _of_hub(hub: Hub, url: str, options: argparse.Namespace, kept: ExitStack) -> dict[str, Measure]:
    cast, agents = team(hub, options.blocking), pairs(hub, options.clients)
    worker = kept.enter_context(working(hub.url, cast.worker.key, options.batch))
    spenders: Spenders = {
        "web": partial(web_processes, hub),
        "database": partial(postgresql_processes, url),
        "worker": partial(_only, worker.process),
    }
    keys = [sender.key for sender in cast.senders]

    def messages() -> Figures:
        before = worker.counts()
        found = blocking.measured(rpc_url(hub, cast.worker.display), keys, options.seconds, spenders)
        batches, tasks = (after - earlier for after, earlier in zip(worker.counts(), before, strict=True))
        return found | {"tasks in a batch": tasks / batches}

    return {"hub": messages, "single calls": partial(_single_calls, hub, url, agents, options.seconds)}


def _of_sdk(server: SdkServer, url: str, options: argparse.Namespace) -> Measure:
    spenders: Spenders = {"web": partial(_only, server.process), "database": partial(postgresql_processes, url)}
    return partial(blocking.measured, server.url, ["none"] * options.blocking, options.seconds, spenders)


def _only(process: psutil.Process) -> list[psutil.Process]:
    return [process]


def _single_calls(hub: Hub, url: str, agents: Sequence[Pair], seconds: float) -> Figures:
    """Run full cycles of single requests."""
    before = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    run = cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in agents], seconds)
    after = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    spent = (*map(cycles.spent, before, after), run.client_cpu)
    return {
        "per second": run.per_second,
        "cpu ms": dict(zip(OF_CYCLES, (1000 * one / run.cycles for one in spent), strict=True)),
    }


def rpc_url(hub: Hub, agent: str) -> str:
    return f"{hub.url}/agents/{agent}/a2a"


def _streams(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Measure the cost at rest of agents that each hold a stream and a long poll at one web process.

    Short requests are measured before them and beside them.
    """
    threads = 2 * options.streams * 8 // 7 + 64
    with served(folder, services="all", migrates=True, database_url=url, workers=1, WEB_THREADS=str(threads)) as hub:
        (short,), streamed = pairs(hub, 1), team(hub, options.streams)
        keys = [sender.key for sender in streamed.senders]
        figures: Figures = {"each": options.streams, "threads": threads}
        figures["before"] = short_requests(hub, short, options.flow, options.seconds)
        listeners = streaming(rpc_url(hub, streamed.worker.display), keys)
        with listeners as streams, waiters.waiting(hub.url, keys) as polls:
            settle(hub)
            figures["cost"] = cost(hub, url, options.rest)
            figures["with"] = short_requests(hub, short, options.flow, options.seconds)
            figures["held"], figures["waited"] = asdict(streams()), asdict(polls())
    assert figures["held"]["opened"] - figures["held"]["ended"] == options.streams, figures["held"]
    assert figures["waited"]["lost"] == figures["waited"]["refused"] == 0, figures["waited"]
    return figures


def tables(figures: Mapping[str, Figures]) -> str:
    parts = [_messages(figures), _singles(figures), _at_rest(figures), _short(figures)]
    if any(sdk_server.DATABASE not in one["blocking"] for one in figures.values()):
        parts.append("The SDK's server was not measured everywhere, since its environment could not be made.\n")
    return "\n".join(parts)


def _messages(figures: Mapping[str, Figures]) -> str:
    head = ("", "clients", "messages a second", "p50 ms", "p99 ms", *SPENDERS, "tasks in a batch")
    rows = []
    for database, one in figures.items():
        found = one["blocking"]
        for name in [name for name in SERVERS if name in found]:
            times = [number(found[name][part]) for part in ("per second", "p50", "p99")]
            spent = [number(found[name]["cpu ms"].get(part), 2) for part in SPENDERS]
            batch = number(found[name].get("tasks in a batch"), 1)
            rows.append((f"{DATABASES[database]}, {SERVERS[name]}", number(found["clients"]), *times, *spent, batch))
    return table(head, rows)


def _singles(figures: Mapping[str, Figures]) -> str:
    head = ("single requests", "cycles a second", *OF_CYCLES)
    rows = []
    for database, one in figures.items():
        found = one["blocking"]["single calls"]
        spent = [number(found["cpu ms"][part], 1) for part in OF_CYCLES]
        rows.append((DATABASES[database], number(found["per second"]), *spent))
    return table(head, rows)


def _at_rest(figures: Mapping[str, Figures]) -> str:
    head = ("one process at rest", "streams", "long polls", "web, % of a core", "database, %", "memory MB")
    rows = []
    for database, one in figures.items():
        found = one["streams"]
        held = [number(found["each"])] * 2
        spent = [number(found["cost"][part], 1) for part in ("web %", "database %", "memory MB")]
        rows.append((DATABASES[database], *held, *spent))
    return table(head, rows)


def _short(figures: Mapping[str, Figures]) -> str:
    head = ("short requests, ms", "p50 before", "p99 before", "p50 with", "p99 with", "unanswered")
    rows = []
    for database, one in figures.items():
        found = one["streams"]
        times = [number(found[when][share], 1) for when in ("before", "with") for share in ("p50", "p99")]
        unanswered = f"{found['with']['unanswered']} of {found['with']['requests']}"
        rows.append((DATABASES[database], *times, unanswered))
    return table(head, rows)


SECTION = Section(measure=measure, tables=tables, options=OPTIONS)
