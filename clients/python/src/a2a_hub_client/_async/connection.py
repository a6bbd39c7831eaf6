"""The connections to a hub: each call is sent over them, and repeated if it may be."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import httpx

from a2a_hub_client._calls import PAGE, Call, error_of_answer, get, page
from a2a_hub_client.credentials import Credentials
from a2a_hub_client.errors import HubError, UnreachableError
from a2a_hub_client.retry import AttemptIds, Backoff, Duration, Retry, seconds

KEPT_CONNECTIONS = 20
T = TypeVar("T")
Item = TypeVar("Item")


class AsyncTransport:
    """Sends calls to one hub over one pool of connections."""

    def __init__(
        self,
        url: str,
        credentials: Credentials,
        *,
        retry: Retry,
        timeout: Duration,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """``timeout`` is how long the hub may take to answer, beside the wait of a long poll.

        Raises `ValueError` for a URL that no request can have.
        """
        try:
            httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ValueError(f"{url!r} cannot be the URL of a hub: {error}") from error
        self.url = url
        self.retry = retry
        self.credentials = credentials
        self.timeout = seconds(timeout)
        self.replaced = transport
        self.drains, self.receives = AttemptIds(), AttemptIds()
        self._process = os.getpid()
        self._pool = self._new_pool()

    async def perform(self, call: Call[T], *, retry: Retry | None = None) -> T:
        """Send the call and return its answer. Raises `HubError`.

        The call is repeated under ``retry``, None for that of the client, if it may be repeated.
        """
        backoff = Backoff(retry or self.retry)
        while True:
            try:
                return call.answer(await self._try(call))
            except HubError as error:
                pause = backoff.pause(error, is_repeatable=call.is_repeatable)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close the connections."""
        await self._connections().aclose()

    def _connections(self) -> httpx.AsyncClient:
        """Return the pool of this process. A process that was forked gets one of its own.

        Two processes on one connection would read each other's answers.
        """
        if self._process != os.getpid():
            self._pool, self._process = self._new_pool(), os.getpid()
        return self._pool

    def _new_pool(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS)
        return httpx.AsyncClient(limits=limits, transport=self.replaced)

    async def _try(self, call: Call[T]) -> bytes:
        url = self.url + call.target
        signed = self.credentials.headers(method=call.method, url=url, body=call.body)
        timeout = httpx.Timeout(self.timeout, read=self.timeout + call.wait)
        connections = self._connections()
        request = connections.build_request(
            call.method, url, content=call.body or None, headers={**call.headers, **signed}, timeout=timeout
        )
        try:
            response = await connections.send(request)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise UnreachableError(f"cannot connect to the hub: {error}", may_have_arrived=False) from error
        except httpx.RequestError as error:
            raise UnreachableError(f"no answer from the hub: {str(error) or type(error).__name__}") from error
        if not response.is_success:
            raise error_of_answer(response.status_code, response.reason_phrase, response.content, response.headers)
        return response.content


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

    async def listed(
        self, target: str, key: str, type_: type[Item], *, limit: int | None = PAGE, **query: Any
    ) -> AsyncIterator[Item]:
        """Yield the items of all pages of a list, which ``key`` holds. ``limit`` None: the hub chooses it."""
        read = page(key, type_)
        cursor: str | None = None
        while True:
            answer = await self.perform(get(target, read, cursor=cursor, limit=limit, **query))
            for item in answer.items:
                yield item
            cursor = answer.next_cursor
            if cursor is None:
                return
