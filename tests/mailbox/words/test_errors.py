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
def test_every_error_has_a_code_and_a_message(error):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code)
    assert error.__name__.endswith("Error")
    assert (error.__doc__ or "").strip()


def test_no_two_errors_share_a_code():
    assert len({error.code for error in REFUSALS}) == len(REFUSALS)


def test_error_ids_are_text_and_missing_ids_are_none():
    error = MailboxError("no", task_id=7, lease_id=None)

    assert (error.message, str(error), error.ids) == ("no", "no", {"task_id": "7", "lease_id": None})


def test_every_kind_fits_the_journal_s_column():
    assert all(re.fullmatch(r"[a-z0-9_]{1,60}", kind) for kind in Kind)
