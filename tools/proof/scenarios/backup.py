"""A backup under load, restored into an empty hub: it has everything that was acknowledged before the backup began."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.proof import rows, rules_requests, rules_results, rules_tasks, servers
from tools.proof.evidence import Evidence, Violation
from tools.proof.forms import FEW, Part, part_of, staged
from tools.proof.history import History
from tools.proof.load import loading
from tools.proof.mix import Mix
from tools.proof.rows import Rows
from tools.proof.scenarios.commands import manage
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage, opened

BEFORE = 6.0  # seconds of load before the backup, and after it
RULES = (
    rules_requests.sends,
    rules_requests.acknowledgements,
    rules_tasks.journal,
    rules_tasks.states,
    rules_tasks.lease_rows,
    rules_tasks.lease_answers,
    rules_results.stored,
    rules_results.rows,
)
# The restored hub also has what was done while the backup was made.
OF_LATER_OPERATIONS = frozenset({"unexpected_task", "leased_to_nobody"})


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Back up a hub under load, restore the file into another one, serve that one, and compare."""
    began, file = time.monotonic(), folder / "backup"
    folder.mkdir(parents=True, exist_ok=True)
    with staged(database, folder / "hub", only_web=True) as stage:
        with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
            time.sleep(BEFORE)
            backup_began = load.history.now()
            manage(stage, "backup", str(file))
            time.sleep(BEFORE)
        part = part_of(stage, "a backup under load", began)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(servers.room()).server() if database == "postgresql" else None
        restored = _stage(database, folder / "restored", server)
        manage(restored, "restore", str(file))
        with opened(restored):
            part.violations += missed(load.history, rows.of_stage(restored), backup_began)
    return [part]


def missed(history: History, restored: Rows, until: float) -> Iterator[Violation]:
    """Yield what the restored hub lacks of the operations that were acknowledged before ``until``."""
    early = History(history.seed)
    early.operations = [one for one in history.operations if one.ended_at is not None and one.ended_at < until]
    evidence = Evidence(early, restored)
    for rule in RULES:
        yield from (found for found in rule(evidence) if found.name not in OF_LATER_OPERATIONS)


def _stage(database: str, folder: Path, server: servers.Server | None) -> Stage:
    folder.mkdir(parents=True, mode=0o700)
    return Stage(
        database=database,
        folder=folder,
        history=History(0),
        database_url=server.url if server else "",
        postgresql=server,
        services="web",
    )


BACKUP = Scenario(name="a backup under load, restored", run=run)
