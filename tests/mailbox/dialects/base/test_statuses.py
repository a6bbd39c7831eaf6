import pytest

from mailbox.dialects.base import http_errors
from mailbox.words import errors
from mailbox.words.errors import MailboxError

pytestmark = pytest.mark.one_database

# Raised in process only: over HTTP nothing that arrived in time is an answer.
NEVER_OVER_HTTP = {errors.WaitTimeoutError}


def refusals_in(module):
    return {
        found
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, MailboxError) and found is not MailboxError
    }


def test_every_refusal_has_a_status():
    known = http_errors.STATUS.keys() | http_errors.TRANSPORT_STATUS.keys()

    assert refusals_in(errors) | refusals_in(http_errors) == known | NEVER_OVER_HTTP


@pytest.mark.parametrize("refusal", [*http_errors.STATUS, *http_errors.TRANSPORT_STATUS])
def test_every_refusal_is_a_4xx_but_for_a_database_out_of_reach(refusal):
    status = http_errors.STATUS.get(refusal) or http_errors.TRANSPORT_STATUS[refusal]

    assert 400 <= status < 500 or refusal in (http_errors.UnavailableError, http_errors.StalledBodyError)
