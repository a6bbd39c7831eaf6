"""One command's way to its hub: the hub's JSON in, the hub's JSON out."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

from a2a_hub_client.cli import access
from a2a_hub_client.cli.access import Given
from a2a_hub_client.cli.contexts import Context
from a2a_hub_client.cli.output import Output, Printer

if TYPE_CHECKING:
    from a2a_hub_client import Hub
    from a2a_hub_client._calls.call import Call
    from a2a_hub_client.errors import HubError

PAGE = 100  # items of one request
USUAL_PATIENCE = 3.0  # seconds until a command gives up a hub that does not answer
LONG_PATIENCE = 60.0  # of a command that runs for long


class Session:
    """The hub of a command, and how its answers are printed. The connection is made at the first request."""

    def __init__(self, given: Given, output: Output, *, is_long: bool = False) -> None:
        """``is_long``: the command waits for a hub that restarts, and says so."""
        self.printer = Printer(output)
        self._given = given
        self._is_long = is_long

    @classmethod
    def of_context(cls, context: Context, output: Output) -> Session:
        """Return the session of a context that is not stored yet."""
        session = cls(Given(), output)
        vars(session)["context"] = context
        return session

    @cached_property
    def context(self) -> Context:
        """The hub and the key. Raises `ConfigError`."""
        return access.chosen(self._given)

    @cached_property
    def hub(self) -> Hub:
        """The client. Raises `ConfigError`."""
        from a2a_hub_client import Retry

        retry = (
            Retry(patience=LONG_PATIENCE, on_trouble=self._tell) if self._is_long else Retry(patience=USUAL_PATIENCE)
        )
        return access.connected(self.context, retry=retry)

    def ask(self, call: Call[Any]) -> Any:
        """Send a call and return the hub's JSON. Raises `HubError`."""
        return self.hub.perform(_raw(call))

    def read(self, route: str, **query: Any) -> Any:
        """Return the hub's JSON at a route. Raises `HubError`."""
        from a2a_hub_client._calls.call import get

        return self.hub.perform(_raw(get(route, bytes, **query)))

    def listed(self, route: str, key: str, *, limit: int, **query: Any) -> Any:
        """Return the hub's answer with the items of so many pages that they are ``limit`` at most."""
        answer = self.read(route, limit=min(limit, PAGE), **query)
        while answer.get("next_cursor") and len(answer[key]) < limit:
            left = min(limit - len(answer[key]), PAGE)
            page = self.read(route, limit=left, cursor=answer["next_cursor"], **query)
            answer = {**page, key: answer[key] + page[key]}
        return answer

    def close(self) -> None:
        """Close the connections."""
        if "hub" in vars(self):
            self.hub.close()

    def _tell(self, error: HubError) -> None:
        self.printer.note(f"Still trying: {error}")


def _raw(call: Call[Any]) -> Call[Any]:
    from a2a_hub_client._calls.call import told

    return dataclasses.replace(call, read=told)
