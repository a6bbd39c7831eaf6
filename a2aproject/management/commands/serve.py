from __future__ import annotations

import contextlib
import errno
import resource
import socket
import sys
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections
from django.urls import Resolver404, resolve

from a2aproject.serving import first_run
from a2aproject.serving.supervisor import Service, Supervisor
from mailbox.background import jobs

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator

REQUEST_GRACE = 10  # seconds a web worker may take to answer what it has begun
STOP_GRACE = 15.0
BACKLOG = 2048
REQUESTS_PER_WORKER = 4096  # begun at once; those beyond WEB_THREADS wait for a thread
MIGRATION_LOCK = 0xA2A


class Command(BaseCommand):
    help = "Run the hub: bring the database up to date, then the web server, the task cluster and the carrier until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-migrate", action="store_true", help="leave the database as it is: another hub keeps it"
        )

    def handle(self, *, no_migrate: bool, **_: Any) -> None:
        _require_free_port(settings.BIND_HOST, settings.PORT)
        if not no_migrate:
            self._prepare_database()
        connections.close_all()
        self.stdout.write(_addresses())
        self.stdout.flush()
        _raise_open_files_limit()
        Supervisor([_web_server(), _cluster(), _carrier()], say=self._say, grace=STOP_GRACE).run()

    def _prepare_database(self) -> None:
        with _one_at_a_time():
            call_command("migrate", interactive=False, verbosity=0)
            credentials = first_run.create_operator_and_agent()
            jobs.register()
        if credentials is not None:
            self.stdout.write(f"{credentials.describe()}\n")

    def _say(self, line: str) -> None:
        self.stderr.write(line, self.style.NOTICE)
        self.stderr.flush()


def _web_server() -> Service:
    options = {
        "--interface": "wsgi",
        "--host": settings.BIND_HOST,
        "--port": settings.PORT,
        "--workers": settings.WEB_WORKERS,
        "--blocking-threads": settings.WEB_THREADS,
        "--backlog": BACKLOG,
        "--backpressure": REQUESTS_PER_WORKER,
        "--workers-kill-timeout": REQUEST_GRACE,
        "--log-level": "error",
    }
    arguments = [str(part) for option in options.items() for part in option]
    flags = ["--respawn-failed-workers", "--no-ws"]
    command = [sys.executable, "-m", "granian", *arguments, *flags, "a2aproject.wsgi:application"]
    return Service(name="web server", command=command)


def _cluster() -> Service:
    return Service(name="task cluster", command=[sys.executable, str(settings.BASE_DIR / "manage.py"), "qcluster"])


def _carrier() -> Service:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "a2a", "carry"]
    return Service(name="carrier", command=command)


def _addresses() -> str:
    pages = [("Dashboard", "/ops/"), ("Admin", "/admin/"), ("API", "/"), ("API reference", "/api/docs/")]
    lines = [f"  {name:<14} {settings.PUBLIC_URL}{path}" for name, path in pages if path == "/" or _exists(path)]
    return "\n".join(["A2A Hub", *lines, "Stop it with Ctrl-C."])


def _exists(path: str) -> bool:
    with contextlib.suppress(Resolver404):
        return bool(resolve(path))
    return False


def _require_free_port(host: str, port: int) -> None:
    """Refuse a port in use before anything is changed; the web server would share it without a word."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} on {host} is in use. Stop what uses it, or set PORT.") from error
        raise CommandError(f"Cannot listen on {host}:{port}: {error}. Set BIND_HOST and PORT.") from error


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let hubs that share a PostgreSQL and start together set it up one after the other, however long it takes."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
    yield  # the lock goes with the connection


def _raise_open_files_limit() -> None:
    """Take all the open files the system grants: a waiting agent is an open connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
