"""The text that a hub prints once it is ready, for people who open its pages at once."""

from __future__ import annotations

import socket
import sys
import threading
import time
from dataclasses import dataclass

PATIENCE = 5.0  # seconds for one answer; the probe waits 2 seconds for its database
PAUSE = 0.5  # seconds between two questions
# The hub always answers to this host. `http.client` would double the memory of the supervisor.
QUESTION = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """A text for standard output, and the address of the web server that it is about."""

    host: str
    port: int
    text: str

    def print_once_ready(self) -> None:
        """Print the text when ``/readyz`` answers 200. A thread waits for that, and ends with this process."""
        threading.Thread(target=self._wait_and_print, name="greeting", daemon=True).start()

    def _wait_and_print(self) -> None:
        while not self._is_ready():
            time.sleep(PAUSE)
        sys.stdout.write(f"{self.text}\n")
        sys.stdout.flush()

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((self.host, self.port), timeout=PATIENCE) as connection:
                connection.sendall(QUESTION)
                with connection.makefile("rb") as answer:
                    return answer.readline().split()[1:2] == [b"200"]
        except OSError:
            return False
