"""A client of a hub."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

import httpx

from a2a_hub_client._async.access import AsyncAccess
from a2a_hub_client._async.handling import AsyncHandling
from a2a_hub_client._async.sending import AsyncSending
from a2a_hub_client._async.transport import AsyncTransport
from a2a_hub_client._async.upkeep import AsyncUpkeep
from a2a_hub_client._async.working import AsyncWorking
from a2a_hub_client.credentials import GivenKey, address, credentials
from a2a_hub_client.retry import Duration, Retry

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class AsyncHub(AsyncSending, AsyncWorking, AsyncHandling, AsyncAccess, AsyncUpkeep):
    """A client of one hub, with one key, for asyncio.

    Every method raises `RefusedError` when the hub refuses the request, and `NotNowError` when the hub does not answer
    within the patience of ``retry``. Close it, or use it in an ``async with``. A process that is forked makes
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Make a client. It sends nothing yet.

        ``url`` is the hub's base URL, None for that in ``A2A_URL``. ``key`` is an API key, or a function that returns
        the key of the next request, None for that in ``A2A_API_KEY``. A ``signing_key`` signs each request instead; its
        ``url`` is the public URL of the hub. ``retry`` None repeats requests for 30 seconds. ``timeout`` is how long
        the hub may take to answer, beside the wait of a long poll. ``transport`` replaces the network, in tests.

        Raises `ValueError` for a missing or malformed URL or key.
        """
        self._transport = AsyncTransport(
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

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncHub:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
