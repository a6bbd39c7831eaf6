"""The programs of a hub, by the words of `serve --only`."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from a2aproject.serving import program, shared_counts
from a2aproject.serving.supervisor import Service

BACKLOG = 2048
REQUESTS_PER_WORKER = 4096  # accepted at once, at least; requests beyond WEB_THREADS wait for a thread
SILENT_CLUSTER = 180.0  # seconds without a finished job: a sweep is due every minute
WEB = "web"
WRONG_USAGE = 2
# The C library would keep up to 100 kB of freed memory for each thread, also for thousands that wait.
MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


def chosen(text: str) -> Sequence[str]:
    """Return the words of a comma-separated list, each once, in the order in which their services start.

    Raises `CommandError` for an empty word and for a word that names no service.
    """
    words = {word.strip() for word in text.split(",")}
    if not words <= SERVICES.keys():
        choices = ", ".join(SERVICES)
        raise CommandError(f"--only is {text!r}: it takes a comma-separated list of {choices}.", returncode=WRONG_USAGE)
    return [word for word in SERVICES if word in words]


def _web_server() -> Service:
    options = {
        "--interface": "wsgi",
        "--host": settings.BIND_HOST,
        "--port": settings.PORT,
        "--workers": settings.WEB_WORKERS,
        "--blocking-threads": settings.WEB_THREADS,
        "--backlog": BACKLOG,
        "--backpressure": max(REQUESTS_PER_WORKER, 2 * settings.WEB_THREADS),
        "--http": 1,
        "--workers-kill-timeout": max(1, settings.STOP_GRACE * 2 // 3),
        "--log-level": "error",
    }
    arguments = [str(part) for option in options.items() for part in option]
    flags = ["--respawn-failed-workers", "--no-ws"]
    environment = {name: value for name, value in MEMORY.items() if name not in os.environ}
    environment |= shared_counts.environment(Path(settings.A2A_VAR) / f"metrics-{settings.PORT}")
    return _service("web server", "granian", *arguments, *flags, "a2aproject.wsgi:application", environment=environment)


def _cluster() -> Service:
    return _service("task cluster", "manage", "cluster", late_after=SILENT_CLUSTER)


def _carrier() -> Service:
    return _service("carrier", "manage", "a2a", "carry")


def _service(
    name: str,
    module: str,
    *arguments: str,
    late_after: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Service:
    """Return the service that runs a module as a program."""
    command = [sys.executable, program.PATH, module, *arguments]
    return Service(name=name, command=command, late_after=late_after, environment=environment or {})


SERVICES: Mapping[str, Callable[[], Service]] = {WEB: _web_server, "cluster": _cluster, "carrier": _carrier}
