"""The registry of running jobs' cards over HTTP. Source: Marianne, AgentCardRegistry."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from agentcards.registry import CardRegistry, CardTakenError
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.marianne import registry_answers as answers
from mailbox.dialects.marianne import registry_requests as shapes
from mailbox.dialects.marianne import registry_wire as wire
from mailbox.words.errors import InvalidRequestError, MailboxError


class UnknownCardError(MailboxError):
    """No card is registered for that job."""

    code = "unknown_card"


class RegistryView(DialectView):
    error_status = {**STATUS, CardTakenError: HTTPStatus.CONFLICT, UnknownCardError: HTTPStatus.NOT_FOUND}

    @property
    def registry(self) -> CardRegistry:
        return CardRegistry(self.caller)


class CardsView(RegistryView):
    @describe(
        summary="Find the cards of running jobs",
        tag="job cards",
        query=shapes.RegistryQuery,
        answer=answers.FoundCards,
        operation_id="find_cards",
    )
    def get(self, request: Request) -> Response:
        query = self.query(shapes.RegistryQuery)
        page = self.registry.look(name=query.name, skill=query.skill, limit=query.limit, cursor=query.cursor)
        cards = [wire.registered(row).model_dump() for row in page.items]
        return Response({"kind": "a2a_cards", "cards": cards, "next_cursor": page.next_cursor})


class CardView(RegistryView):
    @describe(
        summary="Read the card of a running job",
        tag="job cards",
        answer=answers.FoundCard,
        errors=(404,),
        operation_id="get_card",
    )
    def get(self, request: Request, job_id: str) -> Response:
        row = self.registry.get(job_id)
        if row is None:
            raise UnknownCardError(job_id=job_id)
        return Response({"kind": "a2a_card", **wire.registered(row).model_dump()})

    @describe(
        summary="Register the card of a running job",
        tag="job cards",
        body=shapes.CardBody,
        answer=answers.CardRegistered,
        errors=(403, 409),
        operation_id="register_card",
    )
    def put(self, request: Request, job_id: str) -> Response:
        card = self.body(shapes.CardBody).card()
        try:
            row = self.registry.register(job_id, wire.row(card))
        except ValueError as error:
            raise InvalidRequestError({"card": str(error)}) from error
        return Response({"kind": "a2a_card_registered", **wire.registered(row).model_dump()})

    @describe(
        summary="Remove the card of a job that ended",
        tag="job cards",
        answer=answers.CardDeregistered,
        errors=(403, 409),
        operation_id="deregister_card",
    )
    def delete(self, request: Request, job_id: str) -> Response:
        row = self.registry.deregister(job_id)
        card = wire.card(row).model_dump() if row else None
        return Response({"kind": "a2a_card_deregistered", "job_id": job_id, "card": card})
