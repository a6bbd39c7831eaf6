"""A stage: a served hub with its database, its history and its seed."""

import contextlib
import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.support.hub import ROOT, Hub, has_ended, served, wait_until
from tests.support.ports import lasting_port
from tools.proof import edits
from tools.proof.history import History
from tools.proof.servers import Pair, Server

# Limits that the load would reach, and the receiver of callbacks, which listens on the loopback.
ENVIRONMENT = {
    "A2A_INBOUND_RATE_LIMIT_PER_MIN": "1000000",
    "A2A_RECEIVE_RATE_LIMIT_PER_MIN": "1000000",
    "A2A_OUTBOUND_ALLOW": "127.0.0.1",
    "A2A_RETENTION_ACKED_MS": "0",
    "A2A_BLOCKING_WAIT_MS": "3000",
}


@dataclass(kw_only=True)
class Stage:
    """A served hub. Threads of the load go on while the hub is restarted: its URL stays.

    ``database`` is "sqlite" or "postgresql". ``folder`` is the hub's own folder. ``database_url`` is "" for the SQLite
    file in that folder. ``postgresql`` are its servers, None if the stage has none of its own.
    ``code`` is the folder of the project that serves.
    """

    database: str
    folder: Path
    history: History
    database_url: str = ""
    postgresql: Server | Pair | None = None
    services: str = "all"
    workers: int = 2
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=lasting_port)
    code: Path = ROOT

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.first_output = ""  # the keys that the hub made at its first start
        self.checked_until = 0  # the key of the newest journal row that the checker has read
        self._serving = ExitStack()
        self._hub: Hub | None = None

    @property
    def seed(self) -> int:
        return self.history.seed

    @property
    def hub(self) -> Hub:
        assert self._hub is not None, "the hub is not started"
        return self._hub

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_hub(self) -> None:
        """Start the hub; return when it answers."""
        self._hub = self._serving.enter_context(
            served(
                self.folder,
                services=self.services,
                migrates=True,
                database_url=self.database_url,
                port=self.port,
                workers=self.workers,
                code=self.code,
                is_new=edits.VARIABLE in self.environment,  # edits change migrations, too
                **{**ENVIRONMENT, **self.environment},
            )
        )
        self.first_output = self.first_output or self._hub.first_run

    def stop_hub(self) -> None:
        """Stop the hub as an operator does; return when it has ended."""
        self._serving.close()

    def kill_hub(self) -> None:
        """Kill every process of the hub; return when all have ended."""
        tree = (
            [psutil.Process(self.hub.process.pid), *self.hub.descendants()] if self.hub.process.poll() is None else []
        )
        for process in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.hub.process.wait()
        wait_until(lambda: all(has_ended(process) for process in tree))
        self._serving.close()

    def restart_hub(self) -> None:
        """Stop the hub, unless it has ended already, and start it again on its port."""
        self.stop_hub()
        self.start_hub()


@contextlib.contextmanager
def opened(stage: Stage) -> Iterator[Stage]:
    """Start the hub of ``stage`` for the block. The history is closed at its end."""
    stage.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        stage.start_hub()
        yield stage
    finally:
        stage.stop_hub()
        stage.history.close()
