"""A receiver of callbacks on the loopback. Tests choose its answers and read the requests it got."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.http_servers import Handler, serving


class Receiver:
    """Answers with each of ``statuses`` in turn, then with 200. ``extra`` are headers of every answer."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.extra: dict[str, str] = {}
        self.body = b"ok"


@contextmanager
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Hook(Handler):
        def answer(self, body: bytes) -> None:
            found.calls.append((dict(self.headers), body))
            self.send(found.statuses.pop(0) if found.statuses else 200, found.body, *found.extra.items())

    with serving(Hook) as url:
        found.url = f"{url}/hook"
        yield found
