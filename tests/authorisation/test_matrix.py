"""Walks every route with every kind of caller and every method, and compares the answers with ``expected.txt``."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from ipaddress import ip_network
from typing import Any
from zlib import crc32

import pytest
from django.db import connection, transaction
from django.test import Client

from tests.authorisation import requests, routes, table, world
from tests.authorisation.routes import METHODS
from tests.authorisation.world import CANARY, Principal, World
from tests.support.signing import Signer

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

TABLE = table.read(table.FILE.read_text())
SERVED = routes.served()
CALLERS: dict[str, Callable[[World], Iterator[Principal]]] = {
    "api": world.callers_of_the_api,
    "pages": world.callers_of_the_pages,
    "admin": world.callers_of_the_admin,
    "public": world.callers_of_the_public,
    "tokens": world.callers_by_token,
}
LEAST_CELLS, MOST_SHOWN, TENTH = 3000, 60, 10
WRITE = re.compile(r'\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM) "(\w+)"', re.IGNORECASE)
# The tables that a refused request may write: the journal, uses of credentials, rates, sign-ins and sessions.
OF_REFUSALS = (
    *("mailbox_auditevent", "mailbox_apikey", "mailbox_signingkey", "mailbox_spentnonce", "mailbox_publicroute"),
    *("mailbox_ratewindow", "axes_", "django_session"),
)


@pytest.fixture(autouse=True)
def behind_a_proxy(settings: Any) -> None:
    settings.A2A_TRUSTED_PROXIES = [ip_network("127.0.0.1/32")]  # the address of Django's test client
    settings.A2A_CLIENT_CERT_META = "HTTP_X_CLIENT_CERT"


def routes_of(section: str) -> list[str]:
    """Return the routes of a section. Callers by a token try all routes but those of Django's admin."""
    kinds = {"api", "pages", "public"} if section == "tokens" else {section}
    return [route for route, kind in SERVED.items() if kind in kinds]


@contextmanager
def undone() -> Iterator[list[str]]:
    """Roll back what happens inside. Yield the names of the tables that were written."""
    written: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if (change := WRITE.match(sql)) is not None:
            written.append(change[1])
        return execute(sql, *rest)

    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # the hot verbs then take their fast form
    with block, connection.execute_wrapper(note):
        yield written
        transaction.set_rollback(True)


def answer(
    client: Client, cookies: str, method: str, path: str, body: tuple[str, str], signer: Signer | None = None
) -> str:
    """Return the status, with ``+`` if the answer shows the text between alice and bob, and undo the request.

    A refusal that wrote more than refusals write is marked with ``!``.
    """
    client.cookies = SimpleCookie(cookies)
    with undone() as written:
        signed = signer.request(method, path, body[0].encode() or None).headers if signer else {}
        response: Any = client.generic(method, path, *body, headers=dict(signed))
        shown = response.getvalue() if response.streaming else response.content
    mark = "+" if CANARY.encode() in shown else ""
    wrote = [name for name in written if not name.startswith(OF_REFUSALS)]
    return f"{response.status_code}{mark}{'!' if wrote and response.status_code >= 400 else ''}"


def answers(section: str, share: int) -> Iterator[tuple[str, str, Principal, str]]:
    """Yield the answer of each cell, or of one in ``share`` cells: route, method, caller, answer."""
    hub = World()
    paths = {route: requests.path_of(route, hub) for route in routes_of(section)}
    for caller in list(CALLERS[section](hub)):  # all of them exist at the first request
        client = caller.client()
        cookies = client.cookies.output(header="", sep=";")
        for route, path in paths.items():
            for method in METHODS:
                if crc32(f"{method} {route} {caller.name}".encode()) % share:
                    continue
                body = requests.body_of(method, route, hub)
                got = answer(client, cookies, method, caller.prefix + path, body, caller.signer)
                yield route, method, caller, got


@pytest.mark.deep
@pytest.mark.parametrize("section", TABLE)
@pytest.mark.parametrize(
    "share", [pytest.param(1, id="all"), pytest.param(TENTH, id="a tenth", marks=pytest.mark.smoke)]
)
def test_every_route_answers_every_caller_as_the_table_says(section: str, share: int) -> None:
    wrong = [
        f"{method} {route}: {caller.name}: expected {expected}, got {got}"
        for route, method, caller, got in answers(section, share)
        if got != (expected := TABLE[section].expected(route, method, caller.column))
    ]

    assert not wrong, f"{len(wrong)} cells:\n" + "\n".join(wrong[:MOST_SHOWN])


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    kinds = {kind: {route for route in SERVED if SERVED[route] == kind} for kind in SERVED.values()}

    assert {kind: TABLE[kind].routes() for kind in kinds} == kinds
    assert TABLE["tokens"].routes() == routes.open_to_tokens()


def test_the_table_covers_at_least_3000_cells() -> None:
    callers = {name: len(TABLE[name].columns) for name in TABLE}
    cells = sum(len(routes_of(name)) * len(METHODS) * callers[name] for name in TABLE)

    assert cells >= LEAST_CELLS
