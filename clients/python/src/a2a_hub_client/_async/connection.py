"""The part of a hub's client that every group of its methods stands on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from a2a_hub_client._async.transport import AsyncTransport
from a2a_hub_client._calls.call import Call, Page
from a2a_hub_client.retry import Retry

T = TypeVar("T")
Item = TypeVar("Item")


class AsyncConnection:
    """A client's way to its hub."""

    _transport: AsyncTransport

    @property
    def retry(self) -> Retry:
        """How this client repeats requests."""
        return self._transport.retry

    async def perform(self, call: Call[T], *, retry: Retry | None = None) -> T:
        """Send a call and return its answer, under ``retry`` instead of the client's own. Raises `HubError`."""
        return await self._transport.perform(call, retry=retry)

    async def listed(self, call_of: Callable[[str | None], Call[Page[Item]]]) -> AsyncIterator[Item]:
        """Yield the items of all pages. ``call_of`` returns the call of the page at a cursor."""
        cursor: str | None = None
        while True:
            page = await self.perform(call_of(cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
