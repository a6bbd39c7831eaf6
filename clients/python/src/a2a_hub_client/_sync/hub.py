# Written by clients/python/write_sync.py from _async. Change that folder.
"""A client of a hub."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

import httpx

from a2a_hub_client._sync.access import Access
from a2a_hub_client._sync.handling import Handling
from a2a_hub_client._sync.sending import Sending
from a2a_hub_client._sync.transport import Transport
from a2a_hub_client._sync.upkeep import Upkeep
from a2a_hub_client._sync.working import Working
from a2a_hub_client.credentials import GivenKey, address, credentials
from a2a_hub_client.retry import Duration, Retry

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Hub(Sending, Working, Handling, Access, Upkeep):
    """A client of one hub, with one key, for threads.

    Every method raises `RefusedError` when the hub refuses the request, and `NotNowError` when the hub does not answer
    within the patience of ``retry``. Close it, or use it in an ``with``. A process that is forked makes
    connections of its own.
    """

    def __init__(
        self,
        url: str | None = None,
        key: GivenKey | None = None,
        *,
        signing_key: Ed25519PrivateKey | str | None = None,
        retry: Retry | None = None,
        timeout: Duration = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Make a client. It sends nothing yet.

        ``url`` is the hub's base URL, None for that in ``A2A_URL``. ``key`` is an API key, or a function that returns
        the key of the next request, None for that in ``A2A_API_KEY``. A ``signing_key`` signs each request instead; its
        ``url`` is the public URL of the hub. ``retry`` None repeats requests for 30 seconds. ``timeout`` is how long
        the hub may take to answer, beside the wait of a long poll. ``transport`` replaces the network, in tests.

        Raises `ValueError` for a missing or malformed URL or key.
        """
        self._transport = Transport(
            address(url),
            credentials(key, signing_key),
            retry=retry or Retry(),
            timeout=timeout,
            transport=transport,
        )

    @property
    def url(self) -> str:
        """The hub's base URL, without a final slash."""
        return self._transport.url

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Hub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
