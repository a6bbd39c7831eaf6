"""Handlers of the client package, whose worker processes are killed again and again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.proof import handlers
from tests.proof.forms import Part, staged
from tests.proof.scenarios.scenario import Scenario

SENDS, KILLS = 600, 24


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Run the handlers on a hub of their own."""
    with staged(database, folder) as stage:
        return [handlers.handled(stage, seed, sends=SENDS, kills=KILLS)]


HANDLERS = Scenario(name="handlers of the client package", run=run)
