"""PostgreSQL servers of the proof's own, which faults kill, freeze, promote and rebuild.

They listen on loopback ports, as `DATABASE_URL` with several hosts needs it.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import psutil
import psycopg

from tests.support import postgres
from tests.support.hub import has_ended, wait_until
from tests.support.ports import lasting_port

HOST = "127.0.0.1"
SETTINGS = {**postgres.SETTINGS, "listen_addresses": HOST, "unix_socket_directories": ""}
CONNECT_TIMEOUT = 3
CLIENTS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A folder for servers, with PostgreSQL's programs. ``owner`` runs them; None is this process's user."""

    folder: Path
    owner: str | None
    programs: Path
    servers: list[Server] = field(default_factory=list)

    def server(self, environment: Mapping[str, str] | None = None, disk: Path | None = None) -> Server:
        """Make a server with an empty database, and start it. ``environment`` is added to its own.

        Its data is in the folder ``disk``, which its owner may write to; None for the room's own folder.
        """
        server = self._new(environment, disk)
        self.run("initdb", "-D", str(server.data), *postgres.INITDB_OPTIONS)
        server.start()
        return server

    def standby_of(self, primary: Server) -> Server:
        """Make a server that follows ``primary``, and start it."""
        standby = self._new(None, None)
        standby.follow(primary)
        return standby

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs. Raises `subprocess.CalledProcessError` with its output."""
        command = [str(self.programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True, user=self.owner, cwd=self.folder)

    def _new(self, environment: Mapping[str, str] | None, disk: Path | None) -> Server:
        port = lasting_port()
        data = (disk or self.folder) / f"data-{port}"
        server = Server(room=self, data=data, port=port, environment=dict(environment or {}))
        self.servers.append(server)
        return server


@dataclass(slots=True, kw_only=True, eq=False)
class Server:
    """A server with its data and its port, which it keeps over all restarts. ``process`` is its postmaster."""

    room: Room
    data: Path
    port: int
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@{HOST}:{self.port}/postgres"

    @property
    def log(self) -> Path:
        return self.room.folder / f"{self.data.name}.log"

    def start(self) -> None:
        """Start the server, and wait until it answers. It recovers first, if it was killed."""
        options = postgres.options({**SETTINGS, "port": str(self.port)})
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.room.programs / "postgres", "-D", self.data, *options],
                stdout=log,
                stderr=log,
                cwd=self.room.folder,
                user=self.room.owner,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until the server answers. Fail with its log if it has ended."""
        wait_until(lambda: self.is_ready() or not self.is_running(), every=0.05)
        assert self.is_running(), self.log.read_text()[-4000:]

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def is_ready(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), self.connect():
            return True
        return False

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection for the proof itself. It may write while other sessions are read-only."""
        options = "-c default_transaction_read_only=off -c synchronous_commit=local"
        return psycopg.connect(self.url, autocommit=True, connect_timeout=CONNECT_TIMEOUT, options=options)

    def processes(self) -> list[psutil.Process]:
        """Return the postmaster, if it runs, and then its children."""
        if self.process is None or self.process.poll() is not None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            postmaster = psutil.Process(self.process.pid)
            return [postmaster, *postmaster.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Kill every process with SIGKILL, the postmaster first."""
        processes = self.processes()
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait()
        wait_until(lambda: all(has_ended(process) for process in processes))

    def stop(self, number: signal.Signals) -> None:
        """Stop the server: SIGTERM waits for clients, SIGINT disconnects them, SIGQUIT ends without a checkpoint."""
        assert self.process is not None
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def freeze(self) -> None:
        """Stop every process where it is, the postmaster first, so that it starts no others."""
        for _ in range(2):  # the second time for children that began meanwhile
            for process in self.processes():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.suspend()

    def thaw(self) -> None:
        for process in reversed(self.processes()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    def sessions(self) -> list[int]:
        """Return the process ids of the clients' sessions."""
        with self.connect() as admin:
            return [pid for (pid,) in admin.execute(f"SELECT pid {CLIENTS}".encode())]

    def kill_a_session(self, rng: random.Random) -> bool:
        """Kill the process of one session with SIGKILL. Return False if there is none.

        The postmaster ends all the others and recovers.
        """
        sessions = sorted(self.sessions())
        if not sessions:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(rng.choice(sessions)).kill()
        return True

    def terminate_sessions(self) -> int:
        """End every session as an administrator does. Return their number."""
        with self.connect() as admin:
            return len(admin.execute(f"SELECT pg_terminate_backend(pid) {CLIENTS}".encode()).fetchall())

    def configure(self, name: str, value: str | None) -> None:
        """Set a setting in the server's file, and wait until new sessions have it. None sets the default."""
        with self.connect() as admin:
            before = _loaded_at(admin)
            change = f"ALTER SYSTEM RESET {name}" if value is None else f"ALTER SYSTEM SET {name} = '{value}'"
            admin.execute(change.encode())
            admin.execute("SELECT pg_reload_conf()")
        wait_until(lambda: self._loads_anew(before))

    def checkpoint(self) -> None:
        """Write all that was committed until now to the disk."""
        with self.connect() as admin:
            admin.execute("CHECKPOINT")

    def _loads_anew(self, before: datetime) -> bool:
        with self.connect() as admin:
            return _loaded_at(admin) > before

    def follow(self, primary: Server) -> None:
        """Replace the data by a copy of the primary's, and start as its standby. The server must not run."""
        assert not self.is_running()
        shutil.rmtree(self.data, ignore_errors=True)
        source = ("-h", HOST, "-p", str(primary.port), "-U", "postgres")
        self.room.run("pg_basebackup", *source, "-D", str(self.data), "-X", "stream", "-c", "fast", "-R")
        self.start()
        wait_until(lambda: primary.standbys("streaming"), every=0.05)

    def standbys(self, state: str) -> int:
        """Return the number of standbys in that ``state`` or ``sync_state``, such as "streaming" and "sync"."""
        with self.connect() as admin:
            counted = "SELECT count(*) FROM pg_stat_replication WHERE %s IN (state, sync_state)"
            row = admin.execute(counted, [state]).fetchone()
            return int(row[0]) if row else 0

    def version(self) -> str:
        with self.connect() as admin:
            (number,) = admin.execute("SELECT split_part(current_setting('server_version'), ' ', 1)").fetchone() or (
                "",
            )
            return str(number)

    def promote(self) -> None:
        """Make this standby a primary, and wait until it takes writes."""
        with self.connect() as admin:
            admin.execute("SELECT pg_promote(true, 60)")


def _loaded_at(session: psycopg.Connection[Any]) -> datetime:
    """Return the time at which the session's settings were loaded."""
    row = session.execute("SELECT pg_conf_load_time()").fetchone()
    assert row is not None
    return cast("datetime", row[0])


@dataclass(slots=True, kw_only=True)
class Pair:
    """A primary and its synchronous standby. A commit is acknowledged only after the standby has it on its disk."""

    primary: Server
    standby: Server

    @property
    def url(self) -> str:
        """The URL that finds the primary among the two servers."""
        first, second = sorted([self.primary.port, self.standby.port])
        query = "target_session_attrs=read-write&connect_timeout=3&tcp_user_timeout=10000&keepalives_idle=10"
        return f"postgresql://postgres@{HOST}:{first},{HOST}:{second}/postgres?{query}"

    def wait_for_standby(self) -> None:
        """Let commits wait for the standby, from now on."""
        self.primary.configure("synchronous_standby_names", "*")
        wait_until(lambda: self.primary.standbys("sync"), every=0.05)

    def fail_over(self) -> float:
        """Kill the primary and promote its standby, which then takes writes alone. Return the time of promotion."""
        self.primary.kill()
        self.standby.promote()
        self.standby.configure("synchronous_standby_names", None)
        self.primary, self.standby = self.standby, self.primary
        return time.monotonic()

    def rebuild(self) -> None:
        """Make the killed server the standby of the new primary, and let commits wait for it again."""
        self.standby.follow(self.primary)
        self.wait_for_standby()


@contextlib.contextmanager
def room() -> Iterator[Room]:
    """Make room for servers. When the block ends, they are killed and their data is deleted."""
    folder = Path(tempfile.mkdtemp(prefix="a2a-proof-pg-"))
    owner = postgres.owner_of(folder)
    made = Room(folder=folder, owner=owner, programs=postgres.programs_for(folder, owner))
    try:
        yield made
    finally:
        for server in made.servers:
            server.thaw()
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def pair() -> Iterator[Pair]:
    """Run a primary and its synchronous standby."""
    with room() as servers:
        primary = servers.server()
        made = Pair(primary=primary, standby=servers.standby_of(primary))
        made.wait_for_standby()
        yield made
