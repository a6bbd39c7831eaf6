"""A backup under load, restored into an empty hub: it has everything that was acknowledged before the backup began.

Other backups over the same file are killed: the file is then still a whole backup, and hinders no later one.
"""

import contextlib
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tools.proof import rows, rules_requests, rules_results, rules_tasks, servers
from tools.proof.evidence import Evidence, Violation
from tools.proof.forms import FEW, Part, Strike, part_of, staged
from tools.proof.history import History
from tools.proof.load import loading
from tools.proof.mix import Mix
from tools.proof.rows import Rows
from tools.proof.scenarios.commands import manage, manage_until_killed
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage, opened

BEFORE = 6.0  # seconds of load before the first backup, and after the last
KILLS = 8
ENDS_AFTER = (0.6, 3.0)  # seconds after which a backup is killed: from the start of its program to its end
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
    """Back up a hub under load, also with kills; restore both files into other hubs, serve these, and compare."""
    began, rng = time.monotonic(), random.Random(seed)
    survivor, last = folder / "survivor", folder / "last"
    folder.mkdir(parents=True, exist_ok=True)
    with staged(database, folder / "hub", only_web=True) as stage:
        with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
            time.sleep(BEFORE)
            begun = {survivor: load.history.now()}
            manage(stage, "backup", str(survivor))
            kills = sum(
                manage_until_killed(stage, rng.uniform(*ENDS_AFTER), "backup", "--force", str(survivor))
                for _ in range(KILLS)
            )
            shutil.copy(survivor, last)
            begun[last] = load.history.now()
            manage(stage, "backup", "--force", str(last))
            time.sleep(BEFORE)
        part = part_of(stage, "a backup under load", began)
    part.strikes = [Strike(name="killed: a backup", recovery=0.0, counted=kills)]
    for file, backup_began in begun.items():
        part.violations += restored(database, folder / f"restored-{file.name}", file, load.history, backup_began)
    return [part]


def restored(database: str, folder: Path, file: Path, history: History, until: float) -> Sequence[Violation]:
    """Restore the file into an empty hub, and serve that hub; return what it lacks of the time before ``until``."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(servers.room()).server() if database == "postgresql" else None
        stage = _stage(database, folder, server)
        try:
            manage(stage, "restore", str(file))
        except AssertionError as refused:
            return [Violation("backup_torn", file.name, str(refused)[-500:])]
        stack.enter_context(opened(stage))
        return [*missed(history, rows.of_stage(stage), until)]


def missed(history: History, restored: Rows, until: float) -> Iterator[Violation]:
    """Yield what the restored hub lacks of the operations that were acknowledged before ``until``."""
    early = History(history.seed)
    early.operations = [
        one if one.ended_at is not None and one.ended_at < until else replace(one, ended_at=None)
        for one in history.operations
    ]
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


BACKUP = Scenario(
    name="a backup under load, restored",
    covers="Backups of a loaded hub, some of them killed. A restored hub has everything that was acknowledged before "
    "its backup began, and a killed backup leaves the earlier file whole.",
    run=run,
)
