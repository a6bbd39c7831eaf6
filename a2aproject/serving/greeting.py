"""The addresses that a hub prints once it is ready, for people who open its pages at once."""

from __future__ import annotations

import socket
import sys
import threading
import time
from dataclasses import dataclass

PATIENCE = 5.0  # seconds for one answer; the probe waits 2 seconds for its database
PAUSE = 0.5  # seconds between two questions
QUESTIONS = 120  # after which the hub is called not ready
READY, NOT_READY = "A2A Hub is ready.", "A2A Hub is not ready yet: /readyz says why."
# The hub always answers to this host. `http.client` would double the memory of the supervisor.
QUESTION = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


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
