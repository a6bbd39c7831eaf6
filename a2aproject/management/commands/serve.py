"""The port of the web server: that of the settings once it is free, or a port that the system chooses."""

import contextlib
import errno
import os
import resource
import socket
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections

from a2aproject.checks import DURABILITY
from a2aproject.serving import first_run, services, supervise
from a2aproject.serving.first_run import Credentials
from a2aproject.serving.supervise import Greeting
from a2aproject.settings import edge
from mailbox.access.agents import own_agent_setup
from mailbox.background import jobs
from mailbox.checks import SERVING
from mailbox.database.backups.files import BackupError

PATIENCE = 15.0  # seconds
PAUSE = 0.2  # seconds between two looks at a port in use


def wait_until_free(host: str, port: int) -> None:
    """Wait until the port is free, at most `PATIENCE` seconds: a killed hub needs some to end.

    Raise `CommandError` for a port that stays in use, before the database changes. The web server itself would
    share it.
    """
    give_up_at = time.monotonic() + PATIENCE
    while not (is_free := _is_free(host, port)) and time.monotonic() < give_up_at:
        time.sleep(PAUSE)
    if not is_free:
        raise CommandError(f"Port {port} on {host} is in use. Stop the other program, or set PORT.")


def choose_port(host: str) -> None:
    """Let the system choose the hub's port, for this process and the programs that it starts.

    A socket keeps the port until the supervisor ends, also while no web server runs. The web server shares it.
    """
    try:
        keeper, address = _socket(host, 0)
        with keeper:
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            keeper.bind(address)
            port = keeper.getsockname()[1]
            os.set_inheritable(keeper.detach(), True)  # this process turns into the supervisor
    except OSError as error:
        raise CommandError(f"Cannot listen on {host}: {error}. Set BIND_HOST.") from error
    os.environ["PORT"] = str(port)
    if edge.own_url(0) == settings.PUBLIC_URL:
        settings.PUBLIC_URL = edge.own_url(port)
    settings.PORT = port


def _is_free(host: str, port: int) -> bool:
    """Whether no program listens on the port. Raise `CommandError` for an address that no program can listen on."""
    try:
        probe, address = _socket(host, port)
        with probe:
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise CommandError(f"Cannot listen on {host}:{port}: {error}. Set BIND_HOST and PORT.") from error
    return True


def _socket(host: str, port: int) -> tuple[socket.socket, tuple[object, ...]]:
    """Return a socket that is not bound yet, and the address to bind it to."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made, address


MIGRATION_LOCK = 0xA2A
MIGRATION_PAUSE = 0.5  # seconds between two attempts to take that lock


class Command(BaseCommand):
    help = "Run the hub: migrate the database, then run the web server, the task cluster and the carrier until stopped."
    requires_system_checks = ("a2a", SERVING)  # of settings; the checks of code would load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-migrate", action="store_true", help="do not migrate the database: another hub has done so"
        )
        everything = ",".join(services.SERVICES)
        parser.add_argument(
            "--only", default=everything, metavar="SERVICE,...", help=f"run only these services (default: {everything})"
        )

    def handle(self, *, no_migrate: bool, only: str, **_: Any) -> None:
        words = services.chosen(only)
        if services.WEB in words and settings.PORT:
            wait_until_free(settings.BIND_HOST, settings.PORT)
        elif services.WEB in words:
            choose_port(settings.BIND_HOST)
        if not no_migrate:
            self._prepare_database()
        connections.close_all()
        place = f" on port {settings.PORT}" if services.WEB in words else ""
        self.stdout.write(f"A2A Hub starts{place}. Stop it with Ctrl-C.")
        self.stdout.flush()
        _raise_open_files_limit()
        supervise.become(
            [services.SERVICES[word]() for word in words],
            grace=settings.STOP_GRACE,
            greeting=_greeting() if services.WEB in words else None,
        )

    def _prepare_database(self) -> None:
        try:
            self.check(tags=[DURABILITY], databases=[DEFAULT_DB_ALIAS])
            with _setup_lock():
                call_command("migrate", interactive=False, verbosity=0, progress=True, stdout=self.stdout)
                credentials = first_run.create_operator_and_agent()
                conflicts = own_agent_setup.make_all()
                jobs.register()
        except (OperationalError, InterfaceError) as error:
            raise CommandError(f"The database cannot be used: {' '.join(str(error).split())}") from error
        for problem in conflicts:
            self.stderr.write(f"Warning: {problem}")
        if credentials is not None:
            self._announce(credentials)

    def _announce(self, credentials: Credentials) -> None:
        try:
            text = credentials.announce(Path(settings.A2A_VAR), on_terminal=self.stdout.isatty())
        except (OSError, BackupError) as error:
            raise CommandError(
                f"The keys of the first run cannot be kept: {error}. Make others with `manage.py changepassword "
                f"{first_run.OPERATOR}` and `manage.py a2a keys add`, and start again."
            ) from error
        self.stdout.write(f"{text}\n")


def _greeting() -> Greeting:
    text = "\n".join(_addresses())
    return Greeting(host=settings.BIND_HOST, port=settings.PORT, text=text)


def _addresses() -> list[str]:
    manual = {"Documentation": "/docs/"} if settings.A2A_SITE.exists() else {}
    pages = {
        "Dashboard": "/ops/",
        "Admin": "/admin/",
        **manual,
        "API": "/",
        "API reference": "/api/docs/",
    }
    return [f"  {name:<14} {settings.PUBLIC_URL}{path}" for name, path in pages.items()]


@contextlib.contextmanager
def _setup_lock() -> Iterator[None]:
    """Hold an advisory lock, so that hubs on one PostgreSQL set it up one after the other. Waits without limit.

    The waiting hub has no session. A session that waits for the lock holds a snapshot. A concurrent build of an index
    waits for that snapshot, so the hub that migrates would end in a deadlock.
    """
    if connection.vendor != "postgresql":
        yield
        return
    while not _has_locked():
        connection.close()
        time.sleep(MIGRATION_PAUSE)
    yield  # PostgreSQL frees the lock when the connection closes


def _has_locked() -> bool:
    """Take the lock of migrations if it is free; return whether it was."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [MIGRATION_LOCK])
        return bool(cursor.fetchone()[0])


def _raise_open_files_limit() -> None:
    """Raise the limit of open files to the highest allowed: each waiting agent keeps a connection open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
