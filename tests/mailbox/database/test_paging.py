import base64
import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.database import paging
from mailbox.database.paging import Page, after, keyset, newest, page
from mailbox.models import Agent
from mailbox.words import secret_box
from mailbox.words.errors import InvalidRequestError
from tests.support import factories

moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def cursor(*position: object) -> str:
    return sealed(json.dumps(position))


def sealed(text: str) -> str:
    return secret_box.seal(text, purpose=paging.CURSORS)


@given(moments, st.integers(0, 2**63 - 1), st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_a_cursor_marks_the_last_item_of_its_page(moment, number, text):
    shown = page([("first", (text, moment, number)), ("second", ("", moment, 1))], 1, "list")

    assert shown.items == ["first"]
    assert after(shown.next_cursor, "list", (str, datetime, int)) == (text, moment, number)


def test_the_last_page_has_no_cursor():
    found = [("first", (1,)), ("second", (2,))]

    assert page(found, 2, "list").next_cursor is None
    assert page([], 2, "list").next_cursor is None
    assert page(found, 2, "list").items == ["first", "second"]


def test_without_a_cursor_a_list_starts_at_its_first_item():
    assert after(None, "list", (int,)) is None


@pytest.mark.parametrize(
    "given_cursor",
    [
        "",
        "x",
        "é",
        "\ud800",
        "A" * 5000,
        cursor(),
        cursor("list"),
        cursor("other", 1),
        cursor("list", 1, 2),
        cursor("list", "1"),
        cursor("list", None),
        cursor("list", 1.5),
        cursor("list", -1),
        cursor("list", 2**63),
        cursor("list", float("nan")),
        cursor(["list"], 1),
        sealed("null"),
        sealed("[" * 20_000),
        sealed("9" * 5000),
        sealed("\x00"),
        secret_box.seal('["list",1]'),  # sealed for another purpose
        base64.urlsafe_b64encode(b'["list",1]').decode(),  # a cursor of an earlier version of the hub
    ],
    ids=itertools.count(),  # sealed cursors differ in each process
)
def test_a_cursor_of_another_list_is_rejected(given_cursor):
    with pytest.raises(InvalidRequestError) as refusal:
        after(given_cursor, "list", (int,))

    assert refusal.value.fields == {"cursor": "not a cursor of this list"}


def test_a_cursor_shows_no_row_number_and_cannot_be_changed():
    shown = page([("first", (4_711,)), ("second", (4_712,))], 1, "list").next_cursor or ""
    plain = base64.urlsafe_b64decode(shown)

    assert b"4711" not in plain
    assert b"list" not in plain
    for place in range(0, len(shown), 7):
        changed = shown[:place] + ("A" if shown[place] != "A" else "B") + shown[place + 1 :]
        with pytest.raises(InvalidRequestError):
            after(changed, "list", (int,))


@pytest.mark.parametrize("moment", [1e300, -1e300, 1e18, float("inf"), "2030-01-01", [], None])
def test_a_cursor_with_an_invalid_time_is_rejected(moment):
    with pytest.raises(InvalidRequestError):
        after(cursor("list", moment), "list", (datetime,))


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_a_cursor_with_unstorable_text_is_rejected(text):
    with pytest.raises(InvalidRequestError):
        after(cursor("list", text), "list", (str,))


ORDERS: dict[str, tuple[Callable[..., Page[Agent]], tuple[str, ...]]] = {
    "by a moment that rows share": (partial(keyset, field="created_at", kind=datetime), ("created_at", "pk")),
    "by it, newest first": (
        partial(keyset, field="created_at", kind=datetime, newest_first=True),
        ("-created_at", "-pk"),
    ),
    "by a unique name": (partial(keyset, field="display", kind=str, is_unique=True), ("display",)),
    "by age": (newest, ("-pk",)),
}


@pytest.mark.django_db
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("order", ORDERS)
def test_the_pages_of_a_list_hold_each_row_once_and_in_order(order, limit):
    now = datetime(2030, 1, 1, tzinfo=UTC)
    for number in range(7):
        factories.AgentFactory.create(created_at=now + (number // 3) * timedelta(minutes=1))
    read, columns = ORDERS[order]

    shown: list[Agent] = []
    cursor = None
    while len(shown) < 8:
        found = read(Agent.objects.all(), limit=limit, cursor=cursor, name="list")
        assert len(found.items) == min(limit, 7 - len(shown))
        shown += found.items
        if (cursor := found.next_cursor) is None:
            break

    assert shown == list(Agent.objects.order_by(*columns))
