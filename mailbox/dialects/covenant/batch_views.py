"""Batches over HTTP: many tasks or results in one request, each with its own outcome."""

from __future__ import annotations

from typing import TypeVar

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import rates, waits
from mailbox.dialects.base.openapi import ATTEMPT_HEADER, describe
from mailbox.dialects.covenant import batch_answers, batch_requests, batch_wire
from mailbox.dialects.covenant.receive_views import ReceivingView, given_twice
from mailbox.dialects.covenant.requests import NextTask
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import answers as whole
from mailbox.inspection import conversation
from mailbox.life import batches

Receive = TypeVar("Receive", bound=NextTask)


class TasksBatchView(MailboxView):
    @describe(
        summary="Send up to 500 tasks",
        tag="tasks",
        body=batch_requests.TasksBody,
        answer=batch_answers.TasksQueued,
        errors=(403,),
        operation_id="send_tasks",
    )
    def post(self, request: Request) -> Response:
        items = self.body(batch_requests.TasksBody, items="tasks").tasks
        rates.take_for_items(self.caller, len(items))
        read = batch_requests.tasks(items)
        valid = batch_requests.valid(read)
        decided = batches.send_tasks(self.caller, valid).of_each if valid else ()
        return Response(batch_wire.queued(items, batch_requests.outcomes(read, decided)))


class ResultsBatchView(MailboxView):
    @describe(
        summary="Post up to 100 results",
        tag="results",
        body=batch_requests.ResultsBody,
        answer=batch_answers.ResultsPosted,
        errors=(403,),
        operation_id="post_results",
    )
    def post(self, request: Request) -> Response:
        items = self.body(batch_requests.ResultsBody, items="results").results
        rates.take_for_items(self.caller, len(items))
        read = batch_requests.results(items)
        valid = batch_requests.valid(read)
        decided = batches.post_results(self.caller, valid).of_each if valid else ()
        return Response(batch_wire.posted(items, batch_requests.outcomes(read, decided)))


class ReceivingBatchView(ReceivingView):
    http_method_names = ("post",)

    def received_in_body(self, shape: type[Receive], *, items: str | None = None) -> Receive:
        """Return the request's body with the attempt id of its header. Raises as `received` does.

        ``items`` names the items of a batch, as in `json_text.loads`.
        """
        self.must_be_agent()
        how, attempt = self.body(shape, items=items), self.attempt_of_header()
        if attempt is None:
            return how
        if "attempt_id" in how.model_fields_set and how.attempt_id != attempt:
            raise given_twice("attempt_id")
        return how.model_copy(update={"attempt_id": attempt})


class LeaseBatchView(ReceivingBatchView):
    @describe(
        summary="Post the results of your last tasks and lease the next",
        tag="tasks",
        body=batch_requests.LeaseBody,
        headers=(ATTEMPT_HEADER,),
        answer=batch_answers.TasksLeased,
        errors=(403,),
        operation_id="lease_tasks",
    )
    def post(self, request: Request) -> Response:
        how = self.received_in_body(batch_requests.LeaseBody, items="results")
        read = batch_requests.results(how.results)
        answered = batches.next_tasks(
            self.caller,
            most=how.max,
            attempt_id=how.attempt_id,
            answers=batch_requests.valid(read),
            wait=waits.span(how.wait_ms),
        )
        rates.take_for_items(self.caller, len(how.results) + len(answered.leases))
        outcomes = batch_requests.outcomes(read, answered.results.of_each)
        newest = conversation.newest_of_senders(lease.task for lease in answered.leases)
        return Response(batch_wire.leased(answered, newest, how.results, outcomes))


class DrainBatchView(ReceivingBatchView):
    @describe(
        summary="Acknowledge your last results and drain the next",
        tag="results",
        body=batch_requests.DrainBody,
        headers=(ATTEMPT_HEADER,),
        answer=batch_answers.ResultsDrained,
        errors=(403,),
        operation_id="drain_results",
    )
    def post(self, request: Request) -> Response:
        how = self.received_in_body(batch_requests.DrainBody, items="ack")
        read = batch_requests.acks(how.ack)
        answered = batches.next_results(
            self.caller,
            most=how.max,
            attempt_id=how.attempt_id,
            ack=batch_requests.valid(read),
            wait=waits.span(how.wait_ms),
        )
        rates.take_for_items(self.caller, len(how.ack) + len(answered.results))
        return Response(batch_wire.drained(answered, whole.beside(answered.results), read))
