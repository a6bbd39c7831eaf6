"""The clients of tests: they wait for an answer as long as a busy machine may need."""

from typing import Any

from a2a_hub_client import Hub
from tests.support.hub import PATIENCE


def client_of(url: str, key: str, **how: Any) -> Hub:
    """Return a client that waits `PATIENCE` for each answer. ``how`` are other parameters of the client.

    With the client's own timeout a test could fail on a busy machine: some requests are never repeated.
    """
    return Hub(url, key, timeout=PATIENCE, **how)
