"""Runs the supervisor as a program of its own, without Django: ``python supervise.py``.

Once the hub is ready, it prints the hub's addresses for people who open its pages at once.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from a2aproject.serving.supervisor import Service

PATIENCE = 5.0  # seconds for one answer; the probe waits 2 seconds for its database
PAUSE = 0.5  # seconds between two questions
QUESTIONS = 120  # after which the hub is called not ready
READY, NOT_READY = "A2A Hub is ready.", "A2A Hub is not ready yet: /readyz says why."
# The hub always answers to this host. `http.client` would double the memory of the supervisor.
QUESTION = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
VARIABLE = "A2A_SERVICES"  # in the environment of the program: the plan of `become` as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """Lines for standard output, and the address of the web server that they are about."""

    host: str
    port: int
    text: str

    def print_once_ready(self) -> None:
        """Print the text when ``/readyz`` answers 200, or after many other answers, and say which.

        A thread waits for that, and ends with this process.
        """
        threading.Thread(target=self._wait_and_print, name="greeting", daemon=True).start()

    def _wait_and_print(self) -> None:
        sys.stdout.write(f"{READY if self._becomes_ready() else NOT_READY}\n{self.text}\n")
        sys.stdout.flush()

    def _becomes_ready(self) -> bool:
        for _ in range(QUESTIONS):
            if self._is_ready():
                return True
            time.sleep(PAUSE)
        return False

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((self.host, self.port), timeout=PATIENCE) as connection:
                connection.sendall(QUESTION)
                with connection.makefile("rb") as answer:
                    return answer.readline().split()[1:2] == [b"200"]
        except OSError:
            return False


PATH = str(Path(__file__).resolve())


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
