"""High availability: the primary is killed, its synchronous standby is promoted, and the hub goes on by its URL."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tools.proof import servers
from tools.proof.evidence import Violation
from tools.proof.forms import FEW, Part, measured, part_of
from tools.proof.history import WRITES, History
from tools.proof.load import loading
from tools.proof.mix import Mix
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage, opened

FAILOVERS = 5
BETWEEN = 3.0  # seconds of load before each failover, and with the promoted server alone
ALONE = 35.0  # seconds without the standby; longer than DATABASE_STATEMENT_TIMEOUT_MS
SETTLED = 1.0  # seconds in which writes that were under way may still end


def run(_: str, folder: Path, seed: int) -> Sequence[Part]:
    """Fail over to the standby several times under load, and then lose the standby for a while."""
    began, strikes = time.monotonic(), []
    with servers.pair() as pair, opened(_stage(folder, pair)) as stage:
        with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
            for number in range(1, FAILOVERS + 1):
                time.sleep(BETWEEN)
                strikes.append(measured(load, f"failover {number}", pair.fail_over))
                time.sleep(BETWEEN)
                pair.rebuild()
            strikes.append(measured(load, "standby lost", partial(_lose_standby, pair, load.history)))
        part = part_of(stage, "failovers to a synchronous standby", began)
    part.strikes = strikes
    part.violations += written_alone(load.history, *_span_alone(load.history))
    return [part]


def _lose_standby(pair: servers.Pair, history: History) -> None:
    """Kill the standby, and start it again after a while."""
    lost = history.note("standby lost")
    pair.standby.kill()
    time.sleep(ALONE)
    lost["until"] = history.now()
    pair.standby.start()


def _span_alone(history: History) -> tuple[float, float]:
    """Return the times between which there was no standby, and no write was under way from before."""
    (lost,) = history.noted("standby lost")
    return lost["at"] + SETTLED, lost["until"]


def _stage(folder: Path, pair: servers.Pair) -> Stage:
    return Stage(
        database="postgresql",
        folder=folder,
        history=History(0),
        database_url=pair.url,
        postgresql=pair,
        services="web",
    )


def written_alone(history: History, since: float, until: float) -> Iterator[Violation]:
    """Yield the writes that began and were acknowledged while there was no standby that could have them."""
    for operation in history.acknowledged(*WRITES):
        last = operation.tries[-1]
        if since <= last.began_at and last.ended_at <= until:
            yield Violation("acknowledged_alone", operation.request_id, operation.route)


FAILOVER = Scenario(
    name="failovers to a synchronous standby",
    covers="The primary is killed and its standby promoted; then the standby is lost. No acknowledged write is lost, "
    "and none is acknowledged without the standby.",
    run=run,
    databases=("postgresql",),
)
