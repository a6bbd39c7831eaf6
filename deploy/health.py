"""Exits with 0 if the hub of this container is ready, else with 1 and the reason: the image's health check."""

import os
import sys
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

PATIENCE = 5.0  # seconds; the hub's own probe waits 2 seconds for its database


def main() -> None:
    """Ask the probe on loopback, past every proxy that the environment names."""
    hub = HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "3000")), timeout=PATIENCE)
    try:
        hub.request("GET", "/readyz")
        answer = hub.getresponse()
        text = answer.read().decode()
    except (OSError, HTTPException) as error:
        sys.exit(f"The hub does not answer: {error!r}")
    if answer.status != HTTPStatus.OK:
        sys.exit(text)


if __name__ == "__main__":
    main()
