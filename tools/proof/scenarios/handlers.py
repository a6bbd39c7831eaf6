"""Handlers of the clients, in Python and in JavaScript, whose worker processes are killed and frozen."""

from collections.abc import Sequence
from pathlib import Path

from tools.proof import handlers
from tools.proof.forms import Part, staged
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage

SENDS, KILLS, FREEZES = 600, 50, 8


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Run the handlers on a hub of their own. Without a fitting node, those in JavaScript are left out."""
    with staged(database, folder) as stage:
        parts = [handlers.handled(stage, seed, sends=SENDS, kills=KILLS)]
        parts.append(handlers.frozen(stage, seed + 2, sends=SENDS, freezes=FREEZES))
        if commands := handlers.javascript():
            parts.append(_of_javascript(stage, seed + 1, commands))
    return parts


def _of_javascript(stage: Stage, seed: int, commands: handlers.Commands) -> Part:
    name = handlers.OF_JAVASCRIPT
    return handlers.handled(stage, seed, sends=SENDS // 2, kills=KILLS // 2, name=name, commands=commands)


HANDLERS = Scenario(
    name="handlers of the client package",
    covers="Worker processes in Python and JavaScript are killed. Others are frozen, taken over, and go on. An "
    "idempotent task may be done again under another attempt; any other task is done once.",
    run=run,
)
