# Written by clients/python/write_sync.py from _async. Change that folder.
"""The part of a hub's client that every group of its methods stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from a2a_hub_client._calls.call import Call, Page
from a2a_hub_client._sync.transport import Transport
from a2a_hub_client.retry import Retry

T = TypeVar("T")
Item = TypeVar("Item")


class Connection:
    """A client's way to its hub."""

    _transport: Transport

    @property
    def retry(self) -> Retry:
        """How this client repeats requests."""
        return self._transport.retry

    def perform(self, call: Call[T], *, retry: Retry | None = None) -> T:
        """Send a call and return its answer, under ``retry`` instead of the client's own. Raises `HubError`."""
        return self._transport.perform(call, retry=retry)

    def listed(self, call_of: Callable[[str | None], Call[Page[Item]]]) -> Iterator[Item]:
        """Yield the items of all pages. ``call_of`` returns the call of the page at a cursor."""
        cursor: str | None = None
        while True:
            page = self.perform(call_of(cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
