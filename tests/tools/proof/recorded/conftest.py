from collections.abc import Iterator

import pytest

from tools.proof import rows
from tools.proof.history import History
from tools.proof.load import run_load
from tools.proof.mix import WORK, Mix
from tools.proof.plants import Run
from tools.proof.stage import Stage, opened

# Repairs, questions and artifacts are rare. In this short run they are frequent, so that each kind occurs.
OFTEN = {**WORK, "late": 12, "die": 15, "question": 20, "artifact": 12, "conflict": 10}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a load without faults, in which no task is compacted; return its history and its rows."""
    folder = tmp_path_factory.mktemp("hub")
    with opened(Stage(database="sqlite", folder=folder, history=History(0), services="web")) as stage:
        history = run_load(stage, 7, 1300, {}, mix=Mix(compacts=False, work=OFTEN))
        yield history, rows.of_stage(stage)
