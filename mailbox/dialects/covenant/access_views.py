"""API keys, people and public routes over HTTP, for operators and for agents with keys of their own."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access import credential_lists
from mailbox.access.agents import directory
from mailbox.access.credentials import keys, public_routes
from mailbox.dialects.base.fields import moment
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import access_answers, access_wire, admin_answers, admin_requests, admin_wire, requests
from mailbox.dialects.covenant.views import MailboxView


class KeysView(MailboxView):
    @describe(
        summary="List API keys without their secrets: an agent sees its own, an admin sees all",
        tag="access",
        query=requests.ListQuery,
        answer=access_answers.ListedKeys,
        errors=(403,),
        operation_id="list_keys",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.key_list(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.key(key) for key in page.items]
        return Response({"kind": "a2a_keys", "keys": rendered, "next_cursor": page.next_cursor})

    @describe(
        summary="Add an API key",
        tag="access",
        body=admin_requests.KeyBody,
        answer=admin_answers.KeyAdded,
        errors=(403, 404, 409),
        operation_id="add_key",
    )
    def post(self, request: Request) -> Response:
        body = self.body(admin_requests.KeyBody)
        agent = directory.identified(self.caller, body.agent) if body.agent else None
        if agent is None and body.username is None:
            agent = self.caller.agent
        made = keys.add_key(self.caller, agent=agent, username=body.username, expires_at=moment(body.expires_at))
        return Response(admin_wire.key(made))


class RotateKeyView(MailboxView):
    @describe(
        summary="Replace the API key of this request; both are valid for a while",
        tag="access",
        body=admin_requests.RotateKeyBody,
        answer=admin_answers.KeyRotated,
        errors=(403, 404, 409),
        operation_id="rotate_key",
    )
    def post(self, request: Request) -> Response:
        overlap = timedelta(milliseconds=self.body(admin_requests.RotateKeyBody).overlap_ms)
        return Response(admin_wire.rotated(keys.rotate_key(self.caller, overlap=overlap)))


class RevokeKeyView(MailboxView):
    @describe(
        summary="Revoke an API key",
        tag="access",
        body=admin_requests.RevokeKeyBody,
        answer=admin_answers.KeyRevoked,
        errors=(403, 404),
        operation_id="revoke_key",
    )
    def post(self, request: Request) -> Response:
        body = self.body(admin_requests.RevokeKeyBody)
        return Response(admin_wire.key_revoked(keys.revoke_key(self.caller, body.public_id, with_made=body.with_made)))


class PeopleView(MailboxView):
    @describe(
        summary="List people by name",
        tag="access",
        query=requests.ListQuery,
        answer=access_answers.ListedPeople,
        errors=(403,),
        operation_id="list_people",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.people(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.person(person) for person in page.items]
        return Response({"kind": "a2a_people", "people": rendered, "next_cursor": page.next_cursor})


class RoutesView(MailboxView):
    @describe(
        summary="List public routes without their URLs, newest first",
        tag="access",
        query=requests.ListQuery,
        answer=access_answers.ListedRoutes,
        errors=(403,),
        operation_id="list_routes",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.public_routes(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.route(route) for route in page.items]
        return Response({"kind": "a2a_routes", "routes": rendered, "next_cursor": page.next_cursor})

    @describe(
        summary="Add a public route: a secret URL that acts as an agent",
        tag="access",
        body=admin_requests.RouteBody,
        answer=access_answers.RouteAdded,
        errors=(403, 404),
        operation_id="add_route",
    )
    def post(self, request: Request) -> Response:
        body = self.body(admin_requests.RouteBody)
        rate = settings.A2A_ROUTE_RATE_LIMIT_PER_MIN if body.rate_limit is None else body.rate_limit
        made = public_routes.add(self.caller, directory.identified(self.caller, body.agent), rate_limit=rate)
        return Response(access_wire.new_route(made))


class RevokeRouteView(MailboxView):
    @describe(
        summary="Revoke a public route",
        tag="access",
        body=admin_requests.RevokeRouteBody,
        answer=access_answers.RouteRevoked,
        errors=(403, 404),
        operation_id="revoke_route",
    )
    def post(self, request: Request) -> Response:
        revoked = public_routes.revoke(self.caller, self.body(admin_requests.RevokeRouteBody).public_id)
        return Response(access_wire.route_revoked(revoked))
