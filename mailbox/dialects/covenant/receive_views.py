"""Receiving over HTTP: an agent leases its next task or drains its next result, and may wait for it.

Source: Covenant A2A, "Daemon-mediated flow".
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.openapi import ATTEMPT_HEADER, describe
from mailbox.dialects.covenant import answers, conversation_wire, lease_answers, requests, wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import answers as whole
from mailbox.inspection import conversation
from mailbox.life import leasing, results
from mailbox.words.errors import InvalidRequestError, WrongPartyError


class ReceivingView(MailboxView):
    # A HEAD request would lease or drain without an answer that shows what.
    http_method_names: tuple[str, ...] = ("get", "post")

    def received(self, shape: type[requests.NextTask]) -> Any:
        """Return the request's fields from the query, the body of a POST and the header of the attempt id.

        Raises `InvalidRequestError` for a field with two values, since the hub must not guess which value counts.
        """
        self.must_be_agent()
        parts = [self.query(shape)]
        if self.request.method == "POST":
            parts.append(self.body(shape))
        if (attempt := self.attempt_of_header()) is not None:
            parts.append(shape.model_validate({"attempt_id": attempt}))
        how: dict[str, Any] = {}
        for part in parts:
            for name in part.model_fields_set:
                if how.setdefault(name, getattr(part, name)) != getattr(part, name):
                    raise given_twice(name)
        return shape.model_validate(how)

    def must_be_agent(self) -> None:
        """Raise `WrongPartyError` for people."""
        if self.caller.agent is None:
            raise WrongPartyError("Only agents receive. People read /a2a/queue.")

    def attempt_of_header(self) -> UUID | None:
        header = self.request.headers.get("A2A-Receive-Attempt-Id")
        try:
            return None if header is None else UUID(header)
        except ValueError as error:
            raise InvalidRequestError({"A2A-Receive-Attempt-Id": "must be a UUID"}) from error


def given_twice(name: str) -> InvalidRequestError:
    return InvalidRequestError({name: "is given twice, with two values"})


class NextTaskView(ReceivingView):
    @describe(
        summary="Lease the next task",
        tag="tasks",
        query=requests.NextTask,
        headers=(ATTEMPT_HEADER,),
        answer=lease_answers.TaskOpt,
        errors=(403,),
        operation_id="next_task",
    )
    def get(self, request: Request) -> Response:
        how = self.received(requests.NextTask)
        wait = waits.span(how.wait_ms)
        lease = leasing.next_task(self.caller, attempt_id=how.attempt_id, wait=wait)
        spent = lease is None and leasing.is_spent(self.caller, how.attempt_id)
        newest = conversation.newest_of_senders([lease.task] if lease else ())
        leased = conversation_wire.leased(lease, newest) if lease else None
        return Response(wire.next_task(leased, spent=spent))

    @describe(
        summary="Lease the next task",
        tag="tasks",
        query=requests.NextTask,
        body=requests.NextTask,
        headers=(ATTEMPT_HEADER,),
        answer=lease_answers.TaskOpt,
        errors=(403,),
        operation_id="lease_next_task",
    )
    def post(self, request: Request) -> Response:
        return self.get(request)


class NextResultView(ReceivingView):
    @describe(
        summary="Drain the next result",
        tag="results",
        query=requests.NextResult,
        headers=(ATTEMPT_HEADER,),
        answer=answers.ResultOpt,
        errors=(403, 404),
        operation_id="next_result",
    )
    def get(self, request: Request) -> Response:
        how = self.received(requests.NextResult)
        wait = waits.span(how.wait_ms)
        result = results.next_result(self.caller, attempt_id=how.attempt_id, ack=how.ack, wait=wait)
        spent = result is None and results.is_spent(self.caller, how.attempt_id)
        return Response(wire.next_result(result, whole.beside([result] if result else ()), spent=spent))

    @describe(
        summary="Drain the next result",
        tag="results",
        query=requests.NextResult,
        body=requests.NextResult,
        headers=(ATTEMPT_HEADER,),
        answer=answers.ResultOpt,
        errors=(403, 404),
        operation_id="drain_next_result",
    )
    def post(self, request: Request) -> Response:
        return self.get(request)
