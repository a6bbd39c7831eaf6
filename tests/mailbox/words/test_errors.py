from __future__ import annotations

import re

import pytest

from mailbox.words import errors
from mailbox.words.errors import MailboxError
from mailbox.words.kinds import Kind

REFUSALS = [
    error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, MailboxError) and error is not MailboxError
]


@pytest.mark.parametrize("error", REFUSALS)
def test_a_refusal_has_a_slug_and_a_sentence_that_says_what_is_wrong(error):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code)
    assert error.__name__.endswith("Error")
    assert (error.__doc__ or "").strip()


def test_no_two_refusals_share_a_slug():
    assert len({error.code for error in REFUSALS}) == len(REFUSALS)


def test_ids_are_told_as_text_and_absent_ones_as_null():
    error = MailboxError("no", task_id=7, lease_id=None)

    assert (error.message, str(error), error.ids) == ("no", "no", {"task_id": "7", "lease_id": None})


def test_kinds_fit_the_column_of_the_journal():
    assert all(re.fullmatch(r"[a-z0-9_]{1,60}", kind) for kind in Kind)
