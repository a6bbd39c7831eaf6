import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import names
from mailbox.words.envelopes import DISPLAY
from mailbox.words.errors import InvalidRequestError

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1)


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("Code Reviewer", "_code-_reviewer@inbox"),
        ("Canyon", "_canyon@inbox"),
        ("canyon", "canyon@inbox"),
        ("a-b_c.d", "a.2db.5fc.2ed@inbox"),
        ("a b@c", "a-b.40c@inbox"),
        ("é", ".c3.a9@inbox"),
    ],
)
def test_a_name_is_spelled_as_a_display(name, display):
    assert names.spelled(name) == display
    assert names.name_of(display) == name


@given(TEXTS)
def test_every_name_is_read_back_from_its_spelling(name):
    display = names.spelled(name)

    assert names.name_of(display) == name
    assert DISPLAY.fullmatch(display)
    assert display == display.lower()


@given(TEXTS, TEXTS)
def test_two_names_never_have_the_same_spelling(one, other):
    assert (names.spelled(one) == names.spelled(other)) == (one == other)


@given(st.from_regex(re.compile(r"[A-Za-z0-9_.-]+", re.ASCII), fullmatch=True))
def test_a_display_that_is_no_spelling_stays_as_it_is(local):
    display = f"{local}@{names.HOST}"

    name = names.name_of(display)

    assert name == display or names.spelled(name) == display


@pytest.mark.parametrize(
    ("display", "name"),
    [("canyon@local", "canyon"), ("Canyon@LOCAL", "Canyon@LOCAL"), ("a@elsewhere", "a@elsewhere"), ("a@x@inbox", None)],
)
def test_other_displays_are_shown_as_before(display, name):
    assert names.name_of(display) == (name or display)


@pytest.mark.parametrize("name", ["a\x00", "\ud800"])
def test_text_that_no_database_stores_is_no_name(name):
    with pytest.raises(InvalidRequestError, match="agent_name"):
        names.spelled(name)
