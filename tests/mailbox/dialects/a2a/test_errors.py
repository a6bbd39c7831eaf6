import json
from http import HTTPStatus
from types import ModuleType
from uuid import uuid4

import pytest

from mailbox.dialects.a2a import errors as a2a
from mailbox.dialects.base import http_errors
from mailbox.words import errors
from mailbox.words.errors import (
    BadSignatureError,
    InvalidRequestError,
    Lack,
    MailboxError,
    Remedy,
    SignatureFault,
    TaskConflictError,
)

pytestmark = pytest.mark.one_database


def refusals(*modules: ModuleType) -> set[type[MailboxError]]:
    return {
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, MailboxError) and found.__module__ == module.__name__
    }


def made(kind: type[MailboxError]) -> MailboxError:
    error = kind.__new__(kind)
    MailboxError.__init__(error, "no")
    if isinstance(error, InvalidRequestError):
        error.fields = {"a": "b"}
    if isinstance(error, TaskConflictError):
        error.is_forgotten = False
    if isinstance(error, errors.CapabilityMissingError):
        error.lack = None
    return error


PROTOCOL = [
    (errors.UnknownTaskError, -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    (a2a.TaskNotCancelableError, -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
    (a2a.PushNotificationNotSupportedError, -32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (a2a.UnsupportedOperationError, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (errors.AlreadyResolvedError, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (errors.NotAskableError, -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (a2a.ContentTypeNotSupportedError, -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    (http_errors.UnsupportedMediaTypeError, -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    (a2a.ExtensionSupportRequiredError, -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"),
    (a2a.VersionNotSupportedError, -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    (errors.InvalidJsonError, -32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
    (a2a.InvalidEnvelopeError, -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
    (a2a.UnknownRpcMethodError, -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
    (http_errors.PathNotFoundError, -32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
    (InvalidRequestError, -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
    (TaskConflictError, -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
]
OF_HTTP = [
    (errors.UnauthenticatedError, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"),
    (BadSignatureError, 401, "UNAUTHENTICATED", "BAD_SIGNATURE"),
    (errors.CapabilityMissingError, 403, "PERMISSION_DENIED", "CAPABILITY_MISSING"),
    (errors.CapabilityScopeMismatchError, 403, "PERMISSION_DENIED", "CAPABILITY_SCOPE_MISMATCH"),
    (errors.SenderMismatchError, 403, "PERMISSION_DENIED", "SENDER_MISMATCH"),
    (errors.WrongPartyError, 403, "PERMISSION_DENIED", "NOT_AN_AGENT"),
    (errors.UnknownAgentError, 404, "NOT_FOUND", "AGENT_NOT_FOUND"),
    (http_errors.MethodNotAllowedError, 405, "INVALID_ARGUMENT", "METHOD_NOT_ALLOWED"),
    (http_errors.LengthRequiredError, 411, "INVALID_ARGUMENT", "LENGTH_REQUIRED"),
    (http_errors.BodyTooLargeError, 413, "INVALID_ARGUMENT", "BODY_TOO_LARGE"),
    (errors.TaskTooLargeError, 413, "INVALID_ARGUMENT", "TASK_TOO_LARGE"),
    (errors.RateLimitedError, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED"),
    (errors.QuotaExceededError, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
    (http_errors.UnavailableError, 503, "UNAVAILABLE", "UNAVAILABLE"),
    (http_errors.StalledBodyError, 503, "UNAVAILABLE", "UNAVAILABLE"),
    (errors.WaitTimeoutError, 503, "UNAVAILABLE", "TIMEOUT"),
]


@pytest.mark.parametrize(("kind", "code", "http", "status", "reason"), PROTOCOL)
def test_an_error_of_the_protocol_has_its_codes_in_both_bindings(kind, code, http, status, reason):
    error = made(kind)
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "a2a-protocol.org",
        "metadata": {},
    }

    rpc, rest = a2a.rpc_error(error), a2a.rest_error(error)["error"]

    assert (rpc["code"], rpc["data"][0]) == (code, info)
    assert (rest["code"], rest["status"], rest["details"]) == (http, status, rpc["data"])
    assert (a2a.http_status(error, is_rpc=True), a2a.http_status(error, is_rpc=False)) == (200, http)


@pytest.mark.parametrize(("kind", "http", "status", "reason"), OF_HTTP)
def test_an_error_of_http_keeps_its_status_in_both_bindings(kind, http, status, reason):
    error = made(kind)

    rpc, rest = a2a.rpc_error(error), a2a.rest_error(error)["error"]

    assert rpc["code"] == -32000
    assert (rest["code"], rest["status"], rest["details"]) == (http, status, rpc["data"])
    assert (rest["details"][0]["reason"], rest["details"][0]["domain"]) == (reason, "a2a-hub")
    assert (a2a.http_status(error, is_rpc=True), a2a.http_status(error, is_rpc=False)) == (http, http)


@pytest.mark.parametrize("kind", sorted(refusals(errors, http_errors, errors, a2a), key=str))
def test_every_error_of_the_hub_has_a_row_of_its_own(kind):
    error = made(kind)

    assert kind in a2a.ROWS
    assert 400 <= a2a.http_status(error, is_rpc=False) < 600
    json.dumps([a2a.rpc_error(error), a2a.rest_error(error)])


def test_no_two_errors_of_the_dialect_share_a_code_with_another_error():
    kinds = refusals(errors, http_errors, errors, a2a) - {http_errors.StalledBodyError}

    assert len({kind.code for kind in kinds}) == len(kinds)


def test_bad_params_have_a_violation_for_each_field_in_camel_case():
    error = InvalidRequestError({"message.parts.0.media_type": "must be text", "Idempotency-Key": "is taken"})

    rpc = a2a.rpc_error(error)

    assert rpc["message"] == "message.parts.0.mediaType: must be text; Idempotency-Key: is taken"
    assert rpc["data"][1] == {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [
            {"field": "message.parts.0.mediaType", "description": "must be text"},
            {"field": "Idempotency-Key", "description": "is taken"},
        ],
    }
    assert a2a.rest_error(error)["error"]["details"] == rpc["data"]


def test_the_ids_of_an_error_are_text_in_camel_case():
    task_id = uuid4()

    [info] = a2a.rpc_error(MailboxError("no", task_id=task_id, lease_id=None, count=1))["data"]

    assert info["metadata"] == {"taskId": str(task_id), "count": "1"}


def test_a_missing_capability_is_named_with_the_command_that_grants_it():
    lack = Lack(
        action="a2a.send.bob@local",
        scope_id="*",
        target="bob@local",
        agent="alice@local",
        group=None,
        held_by=(),
        remedy=Remedy.GRANT,
    )
    error = errors.CapabilityMissingError("alice@local has no grant.", lack=lack)

    for message in (a2a.rpc_error(error)["message"], a2a.rest_error(error)["error"]["message"]):
        assert message.endswith("a2a grant give alice@local a2a.send.bob@local")


def test_the_repeat_of_a_forgotten_task_is_an_unsupported_operation():
    error = TaskConflictError("compacted", is_forgotten=True, task_id=uuid4())

    assert a2a.rpc_error(error)["code"] == -32004


def test_an_error_of_another_class_of_the_hub_has_the_row_of_its_nearest_class():
    class OddSignatureError(BadSignatureError):
        pass

    class OddError(MailboxError):
        pass

    assert a2a.row_of(OddSignatureError(SignatureFault.WRONG, "No.")) == a2a.ROWS[BadSignatureError]
    assert a2a.http_status(OddError(), is_rpc=True) == HTTPStatus.BAD_REQUEST


def test_a_bug_is_an_internal_error_that_shows_nothing_of_itself():
    error = KeyError("secret")

    rpc, rest = a2a.rpc_error(error), a2a.rest_error(error)

    assert (rpc["code"], rpc["data"][0]["reason"]) == (-32603, "INTERNAL_ERROR")
    assert (rest["error"]["code"], rest["error"]["status"]) == (500, "INTERNAL")
    assert (a2a.http_status(error, is_rpc=True), a2a.http_status(error, is_rpc=False)) == (200, 500)
    assert "secret" not in json.dumps([rpc, rest])
