"""PgBouncer as its page describes it: the page's `pgbouncer.ini` and settings of the role, on a port of loopback."""

import contextlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support import pages, postgres
from tests.support.hub import PATIENCE, wait_until
from tests.support.ports import lasting_port

PAGE = "docs/operate/pgbouncer.md"
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
FILLED = {
    "host=127.0.0.1 port=5432": "host={host} port={server_port}",
    "listen_port = 6432": "listen_port = {port}\nunix_socket_dir =\nlogfile = {folder}/log",
    "/etc/pgbouncer/userlist.txt": "{folder}/userlist.txt",
}


@dataclass(slots=True, kw_only=True)
class Pooler:
    """PgBouncer in front of a server. It keeps its port over all restarts."""

    folder: Path
    port: int = field(default_factory=lasting_port)
    process: psutil.Popen | None = None

    @property
    def url(self) -> str:
        (url,) = re.findall(r"^DATABASE_URL=(\S+)\nDATABASE_POOLER", pages.page(PAGE), re.MULTILINE)
        return str(url).replace(":6432/", f":{self.port}/")

    def start(self) -> None:
        assert PROGRAM is not None
        command = [PROGRAM, "-q", str(self.folder / "pgbouncer.ini")]
        self.process = psutil.Popen(command, user=postgres.owner_of(self.folder), cwd=self.folder)
        wait_until(lambda: self._answers() or not self._running().is_running())
        assert self._running().is_running(), (self.folder / "log").read_text()

    def kill(self) -> None:
        process = self._running()
        process.kill()
        process.wait(PATIENCE)

    def restart(self) -> None:
        self.kill()
        self.start()

    def freeze(self) -> None:
        self._running().suspend()

    def thaw(self) -> None:
        self._running().resume()

    def _running(self) -> psutil.Popen:
        assert self.process is not None, "PgBouncer is not started"
        return self.process

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True


def set_up(admin: psycopg.Connection[Any]) -> None:
    """Make the page's role and database on a server."""
    for statement in ("CREATE ROLE hub LOGIN PASSWORD 'password'", "CREATE DATABASE hub OWNER hub", _block("sql")):
        admin.execute(statement.encode())


def _block(language: str) -> str:
    return str(dict(pages.BLOCK.findall(pages.page(PAGE)))[language])


@contextlib.contextmanager
def pooled(host: str, server_port: int) -> Iterator[Pooler]:
    """Run PgBouncer in front of a server that is set up, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="a2a-pgbouncer-") as folder:
        pooler = Pooler(folder=Path(folder))
        text = _block("ini")
        for old, new in FILLED.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new.format(host=host, server_port=server_port, port=pooler.port, folder=folder))
        (pooler.folder / "pgbouncer.ini").write_text(text)
        (pooler.folder / "userlist.txt").write_text('"hub" "password"\n')
        pooler.start()
        try:
            yield pooler
        finally:
            pooler.thaw()
            pooler.kill()
