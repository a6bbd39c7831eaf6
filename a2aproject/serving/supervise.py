"""Runs the supervisor as a program of its own, without Django: ``python supervise.py``."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from a2aproject.serving.first_run import Greeting
    from a2aproject.serving.supervisor import Service

PATH = str(Path(__file__).resolve())
VARIABLE = "A2A_SERVICES"  # in the environment of the program: the plan of `become` as JSON


def become(services: Sequence[Service], *, grace: float, greeting: Greeting | None) -> NoReturn:
    """Turn this process into the supervisor of the services. It keeps its id and its output, and frees its memory.

    It prints the greeting once the web server is ready; None: it runs no web server. A stop signal that arrives
    meanwhile waits until the supervisor can obey it.
    """
    from a2aproject.serving.supervisor import STOP_SIGNALS

    plan = {
        "services": [asdict(service) for service in services],
        "grace": grace,
        "greeting": asdict(greeting) if greeting else None,
    }
    os.environ[VARIABLE] = json.dumps(plan)
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    os.execv(sys.executable, [sys.executable, PATH])  # noqa: S606 (our own program, no shell)


def main() -> None:
    """Run the supervisor that `become` described."""
    sys.path[0] = str(Path(PATH).parents[2])
    from a2aproject.serving.first_run import Greeting
    from a2aproject.serving.supervisor import Service, Supervisor

    plan = json.loads(os.environ.pop(VARIABLE))
    services = [Service(**service) for service in plan["services"]]
    if plan["greeting"] is not None:
        Greeting(**plan["greeting"]).print_once_ready()
    Supervisor(services, say=_say, grace=plan["grace"]).run()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
