import httpx
import pytest

from a2a_hub_client import _calls, errors, refusals
from mailbox.dialects.base.http_errors import STATUS, TRANSPORT_STATUS

pytestmark = pytest.mark.one_database

HUB = {**STATUS, **TRANSPORT_STATUS}


def failure(status, body=b"", **headers):
    return _calls.error_of_answer(status, "Reason", body, httpx.Headers(headers))


def test_each_code_of_the_hub_has_a_class_with_the_hub_s_status():
    assert {code: one.usual_status for code, one in _calls.BY_CODE.items()} == {
        error.code: status for error, status in HUB.items()
    }


def test_each_class_has_the_name_of_the_hub_s_class():
    names = {error.code: error.__name__ for error in HUB if error.__name__ != "StalledBodyError"}

    assert {code: one.__name__ for code, one in _calls.BY_CODE.items()} == names


def test_an_error_has_what_the_hub_reports():
    body = b'{"kind":"error","code":"lease_mismatch","message":"M.","lease_id":"a","live_lease_id":null}'

    error = failure(409, body)

    assert type(error) is refusals.LeaseMismatchError
    assert (str(error), error.code, error.status) == ("M.", "lease_mismatch", 409)
    assert error.ids == {"lease_id": "a", "live_lease_id": None}
    assert error.fields == {}


def test_an_invalid_request_has_its_fields():
    error = failure(400, b'{"code":"invalid_request","message":"M.","fields":{"to":"is required"}}')

    assert isinstance(error, refusals.InvalidRequestError)
    assert error.fields == {"to": "is required"}


def test_fields_of_another_server_are_left_out():
    assert failure(400, b'{"message":"M.","fields":["to"],"code":7}').fields == {}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, refusals.UnauthenticatedError),
        (403, refusals.ForbiddenError),
        (404, refusals.NotFoundError),
        (409, refusals.ConflictError),
        (418, errors.RefusedError),
        (408, errors.NotNowError),
        (425, errors.NotNowError),
        (429, errors.RateLimitedError),
        (500, errors.UnavailableError),
        (502, errors.UnavailableError),
    ],
)
def test_an_unknown_error_has_the_class_of_its_status(status, kind):
    error = failure(status, b"<html>")

    assert type(error) is kind
    assert (str(error), error.code, error.status) == (f"{status} Reason", "", status)


@pytest.mark.parametrize(("status", "may_have_arrived"), [(429, False), (425, False), (503, True), (408, True)])
def test_only_a_limit_says_that_nothing_was_done(status, may_have_arrived):
    error = failure(status)

    assert isinstance(error, errors.NotNowError)
    assert error.may_have_arrived is may_have_arrived


@pytest.mark.parametrize(("header", "wanted"), [("7", 7.0), ("soon", None), ("", None)])
def test_a_failure_for_now_has_the_hub_s_retry_after(header, wanted):
    error = failure(503, b"", **{"Retry-After": header})

    assert isinstance(error, errors.NotNowError)
    assert error.retry_after == wanted


def test_a_refused_item_of_a_batch_has_the_class_of_its_code():
    error = _calls.error_of_item({"index": 3, "task_id": "t", "code": "quota_exceeded", "message": "M."})

    assert type(error) is errors.QuotaExceededError
    assert error.ids == {"task_id": "t"}
    assert not error.may_have_arrived
