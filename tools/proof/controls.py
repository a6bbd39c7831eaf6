"""Control runs: a client breaks its contract, or the hub has a bug. The proof must name the broken promise."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.proof import edits, forms
from tools.proof.forms import HANG_UPS, Part
from tools.proof.load import Load, loading
from tools.proof.mix import Mix
from tools.proof.servers import Server
from tools.proof.stage import Stage

BEFORE_THE_KILL = 40  # acknowledged sends


def _need_nothing(stage: Stage) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A run that must fail. ``names`` are the violations of which it must report each."""

    name: str
    names: frozenset[str]
    mix: Mix = field(default_factory=lambda: Mix(compacts=False))
    rates: Mapping[str, float] = field(default_factory=lambda: HANG_UPS)
    changes: tuple[edits.Edit, ...] = ()
    databases: tuple[str, ...] = ("sqlite", "postgresql")
    beside: Callable[[Load], None] = Load.wait_until_sent
    prepare: Callable[[Stage], None] = _need_nothing


def run(control: Control, database: str, folder: Path, seed: int, *, sends: int = 160) -> Part:
    """Run a control on an empty database; return its part, with its violations."""
    with forms.staged(database, folder, *control.changes, only_web=True) as stage:
        control.prepare(stage)
        began = time.monotonic()
        with loading(stage, seed, sends=sends, rates=control.rates, mix=control.mix) as load:
            control.beside(load)
        return forms.part_of(stage, control.name, began)


def _leave_commits_in_memory(stage: Stage) -> None:
    """Let the writer of PostgreSQL's log sleep, so that a commit stays in memory for seconds."""
    assert isinstance(stage.postgresql, Server)
    stage.postgresql.configure("wal_writer_delay", "10000")


def _kill_postgresql(load: Load) -> None:
    """Kill the server when the hub has acknowledged some tasks, and start it again. The agents and keys stay."""
    server, history = load.world.stage.postgresql, load.history
    assert isinstance(server, Server)
    server.checkpoint()
    whole = len([*history.acknowledged("send")])
    while len([*history.acknowledged("send")]) < whole + BEFORE_THE_KILL:
        time.sleep(0.02)
    server.kill()
    server.start()
    load.wait_until_sent()


FORGETFUL = Control(
    name="the hub forgets a receive attempt once its lease or result has ended",
    names=frozenset({"attempt_took_twice"}),
    rates={"early": 0.3, "duplicated": 0.1},
    changes=edits.FORGETFUL_ATTEMPTS,
)
CONTROLS = (
    Control(
        name="senders do not name their tasks",
        names=frozenset({"request_decided_twice"}),
        mix=Mix(compacts=False, names_tasks=False),
    ),
    Control(
        name="receives do not name their attempts",
        names=frozenset({"attempt_took_twice", "delivered_to_nobody"}),
        mix=Mix(compacts=False, names_attempts=False, looks=False),
    ),
    Control(
        name="senders do not acknowledge their results",
        names=frozenset({"result_left_unacked"}),
        mix=Mix(compacts=False, acknowledges=False),
    ),
    FORGETFUL,
    Control(
        name="the hub sets synchronous_commit=off, and PostgreSQL is killed",
        names=frozenset({"acknowledged_task_lost"}),
        mix=Mix(compacts=False, official=False),  # a stream would wait long for events that are lost
        changes=edits.UNSYNCED_COMMITS,
        databases=("postgresql",),
        prepare=_leave_commits_in_memory,
        beside=_kill_postgresql,
    ),
)
