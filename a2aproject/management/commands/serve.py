"""`manage.py serve`: the port of the web server, the programs of a hub, and the first run.

The port is that of the settings once it is free, or a port that the system chooses. In the first run a new hub gets an
operator and an agent.
"""

import contextlib
import errno
import itertools
import os
import resource
import secrets
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from a2aproject.checks import DURABILITY
from a2aproject.serving import program, shared_counts, supervise, supervisor
from a2aproject.settings import edge
from mailbox.access.agents import own_agent_setup, registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import keys
from mailbox.access.people import passwords
from mailbox.background import jobs
from mailbox.checks import SERVING
from mailbox.database.backups import files
from mailbox.words.errors import AgentConflictError

OPERATOR = "operator"
FIRST_AGENT = "first@local"
FILE = "first-run.txt"  # in the hub's own folder, with mode 0600
BACKLOG = 2048
BUFFER = 128 * 1024  # bytes of one connection in each direction
REQUESTS_PER_WORKER = 4096  # accepted at once, at least; requests beyond WEB_THREADS wait for a thread
SILENT_CLUSTER = 180.0  # seconds without a finished job: a sweep is due every minute
WEB = "web"
WRONG_USAGE = 2
# The C library would keep up to 100 kB of freed memory for each thread, also for thousands that wait. It would keep the
# memory of large answers in many pools. So there are few, and a large block goes back to the system at once.
_MALLOC = {"tcache_count": 0, "arena_max": 4, "mmap_threshold": 262_144, "trim_threshold": 1_048_576}
MEMORY = {"GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in _MALLOC.items())}
PATIENCE = 15.0  # seconds
PAUSE = 0.2  # seconds between two looks at a port in use
MIGRATION_LOCK = 0xA2A
MIGRATION_PAUSE = 0.5  # seconds between two attempts to take that lock
SILENT_PAUSES = 4  # before the hub reports that it waits


class Credentials(NamedTuple):
    """Secrets that the hub stores only as digests. ``first`` is None if another agent has its name."""

    password: str
    operator_key: str
    first: registration.Registration | None

    def announce(self, folder: Path, *, on_terminal: bool) -> str:
        """Write the secrets to the private file `FILE` in ``folder``; return the text to print.

        Only a terminal gets the secrets, because other output may stay in a log. Raises `OSError`, and `BackupError`
        while another process writes the file.
        """
        file, text = folder / FILE, self.describe()
        with files.appearing(file) as stream:
            stream.write(f"{text}\n".encode())
        if on_terminal:
            return f"{text}\nThey are also in {file}. Delete that file once you keep them elsewhere.\n"
        return (
            f"The keys of the operator and of the first agent are in {file}. Keep them elsewhere, and delete the file."
        )

    def describe(self) -> str:
        """Return the text that the first run writes to `FILE`."""
        lines = [
            "Keep these. The hub itself stores only digests, and never prints them again.",
            "",
            "  Operator, for the browser and for automation",
            f"    name         {OPERATOR}",
            f"    password     {self.password}",
            f"    API key      {self.operator_key}",
            "",
        ]
        if self.first is not None:
            lines += [
                "  First agent",
                f"    name         {self.first.agent.display}",
                f"    API key      {self.first.api_key}",
                f"    public key   {self.first.agent.pubkey}",
                f"    private key  {self.first.private_key}",
                "",
            ]
        return "\n".join(lines)


def create_operator_and_agent() -> Credentials | None:
    """Create the operator and the first agent, each with a key; return None where there is a user already.

    The user comes first, so that a first run cut short is never tried again: `manage.py changepassword` and
    `manage.py a2a` make what it still lacks.
    """
    users = get_user_model()
    if users.objects.exists():
        return None
    caller = Caller.command_line()
    password = secrets.token_urlsafe(18)
    operator = users.objects.create_superuser(OPERATOR)
    operator.password = passwords.first_hash(password)
    operator.save(update_fields=["password"])
    operator.groups.add(Group.objects.get(name=Role.ADMIN))
    operator_key = keys.add_key(caller, username=OPERATOR).secret
    first = None
    with contextlib.suppress(AgentConflictError):
        first = registration.register_agent(caller, FIRST_AGENT)
    return Credentials(password=password, operator_key=operator_key, first=first)


def chosen(text: str) -> Sequence[str]:
    """Return the words of a comma-separated list, each once, in the order in which their services start.

    Raises `CommandError` for an empty word and for a word that names no service.
    """
    words = {word.strip() for word in text.split(",")}
    if not words <= SERVICES.keys():
        choices = ", ".join(SERVICES)
        raise CommandError(f"--only is {text!r}: it takes a comma-separated list of {choices}.", returncode=WRONG_USAGE)
    return [word for word in SERVICES if word in words]


def _web_server() -> supervisor.Service:
    options = {
        "--interface": "wsgi",
        "--host": settings.BIND_HOST,
        "--port": settings.PORT,
        "--workers": settings.WEB_WORKERS,
        "--blocking-threads": settings.WEB_THREADS,
        "--backlog": BACKLOG,
        "--backpressure": max(REQUESTS_PER_WORKER, 2 * settings.WEB_THREADS),
        "--http": 1,
        "--http1-buffer-size": BUFFER,
        "--workers-kill-timeout": max(1, settings.STOP_GRACE * 2 // 3),
        "--log-level": "error",
    }
    arguments = [str(part) for option in options.items() for part in option]
    flags = ["--respawn-failed-workers", "--no-ws"]
    environment = {name: value for name, value in MEMORY.items() if name not in os.environ}
    environment |= shared_counts.environment(Path(settings.A2A_VAR) / f"metrics-{settings.PORT}")
    command = _program("granian", *arguments, *flags, "a2aproject.wsgi:application")
    return supervisor.Service(name="web server", command=command, environment=environment)


def _cluster() -> supervisor.Service:
    return supervisor.Service(name="task cluster", command=_program("manage", "cluster"), late_after=SILENT_CLUSTER)


def _carrier() -> supervisor.Service:
    return supervisor.Service(name="carrier", command=_program("manage", "a2a", "carry"))


def _program(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module as a program."""
    return [sys.executable, program.PATH, module, *arguments]


SERVICES: Mapping[str, Callable[[], supervisor.Service]] = {WEB: _web_server, "cluster": _cluster, "carrier": _carrier}


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


class Command(BaseCommand):
    help = "Run the hub: migrate the database, then run the web server, the task cluster and the carrier until stopped."
    requires_system_checks = ("a2a", SERVING)  # of settings; the checks of code would load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-migrate", action="store_true", help="do not migrate the database: another hub has done so"
        )
        everything = ",".join(SERVICES)
        parser.add_argument(
            "--only", default=everything, metavar="SERVICE,...", help=f"run only these services (default: {everything})"
        )

    def handle(self, *, no_migrate: bool, only: str, **_: Any) -> None:
        words = chosen(only)
        if WEB in words and settings.PORT:
            wait_until_free(settings.BIND_HOST, settings.PORT)
        elif WEB in words:
            choose_port(settings.BIND_HOST)
        if not no_migrate:
            self._prepare_database()
        connections.close_all()
        place = f" on port {settings.PORT}" if WEB in words else ""
        self.stdout.write(f"A2A Hub starts{place}. Stop it with Ctrl-C.")
        self.stdout.flush()
        _raise_open_files_limit()
        supervise.become(
            [SERVICES[word]() for word in words],
            grace=settings.STOP_GRACE,
            greeting=_greeting() if WEB in words else None,
        )

    def _prepare_database(self) -> None:
        try:
            self.check(tags=[DURABILITY], databases=[DEFAULT_DB_ALIAS])
            with _setup_lock(self.stderr.write):
                call_command("migrate", interactive=False, verbosity=0, progress=True, stdout=self.stdout)
                credentials = create_operator_and_agent()
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
        except (OSError, files.BackupError) as error:
            raise CommandError(
                f"The keys of the first run cannot be kept: {error}. Make others with `manage.py changepassword "
                f"{OPERATOR}` and `manage.py a2a keys add`, and start again."
            ) from error
        self.stdout.write(f"{text}\n")


def _greeting() -> supervise.Greeting:
    manual = {"Documentation": "/docs/"} if settings.A2A_SITE.exists() else {}
    pages = {"Dashboard": "/ops/", "Admin": "/admin/", **manual, "API": "/", "API reference": "/api/docs/"}
    text = "\n".join(f"  {name:<14} {settings.PUBLIC_URL}{path}" for name, path in pages.items())
    return supervise.Greeting(host=settings.BIND_HOST, port=settings.PORT, text=text)


@contextlib.contextmanager
def _setup_lock(tell: Callable[[str], object]) -> Iterator[None]:
    """Hold an advisory lock, so that hubs on one PostgreSQL set it up one after the other. Waits without limit.

    A transaction holds the lock, so that no session of a pooler keeps it. The waiting hub has no session. A session
    that waits for the lock holds a snapshot. A concurrent build of an index waits for that snapshot, so the hub that
    migrates would end in a deadlock.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with contextlib.closing(connection.copy()) as own:
        for pauses in itertools.count():
            if _has_locked(own):
                break
            own.rollback()
            own.close()
            if pauses == SILENT_PAUSES:
                tell("Another hub sets up the database. This one waits until it has ended.")
            time.sleep(MIGRATION_PAUSE)
        yield
        own.rollback()


def _has_locked(own: BaseDatabaseWrapper) -> bool:
    """Take the lock of migrations for a transaction of ``own`` if it is free; return whether it was."""
    own.set_autocommit(False)
    with own.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        return bool(cursor.fetchone()[0])


def _raise_open_files_limit() -> None:
    """Raise the limit of open files to the highest allowed: each waiting agent keeps a connection open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
