"""Grants, API keys, people and public routes over HTTP, for operators and for agents that hold the capability."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access import credential_lists
from mailbox.access.agents import directory, grants
from mailbox.access.credentials import keys, public_routes
from mailbox.access.credentials.public_routes import HIGHEST_RATE
from mailbox.dialects.base.bodies import AgentField, DateMs, Exact, Integer, Text, moment
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import access_wire, requests
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists


class GrantBody(Exact):
    """The capability to grant.

    ``scope`` limits the grant to a peer, a task, a lease or a duplicate risk. ``max_uses`` limits how often it is used.
    """

    subject: AgentField
    action: Text
    scope: dict[str, Any] | None = None
    expires_at: DateMs | None = None
    max_uses: Integer | None = Field(None, ge=1, le=2**31 - 1)


class RevokeBody(Exact):
    """The grant to revoke."""

    grant_id: UUID


class KeyBody(Exact):
    """The owner of the new key: an agent or, for automation, a person. Without either the caller gets the key."""

    agent: AgentField | None = None
    username: Text | None = None
    expires_at: DateMs | None = None


class RotateKeyBody(Exact):
    """How long the old key stays valid beside the new key."""

    overlap_ms: Integer = Field(3_600_000, ge=60_000, le=604_800_000)


class RevokeKeyBody(Exact):
    """The key to revoke, by its public id. ``with_made`` also revokes the keys that were made with it."""

    public_id: Text
    with_made: bool = Field(False, strict=True)


class RouteBody(Exact):
    """The agent that the new public route acts as, and the limit of its requests a minute.

    Without ``rate_limit`` the operator's setting counts.
    """

    agent: AgentField
    rate_limit: Integer | None = Field(None, ge=1, le=HIGHEST_RATE)


class RevokeRouteBody(Exact):
    """The public route to revoke, by its public id: the eight characters after ``p_`` in its URL."""

    public_id: Text


class GrantView(MailboxView):
    @describe(
        summary="Grant a capability",
        tag="capabilities",
        body=GrantBody,
        answer=access_wire.Granted,
        errors=(403, 404),
        operation_id="grant_capability",
    )
    def post(self, request: Request) -> Response:
        body = self.body(GrantBody)
        made = grants.grant(
            self.caller,
            directory.identified(self.caller, body.subject),
            body.action,
            scope=body.scope,
            expires_at=moment(body.expires_at),
            max_uses=body.max_uses,
        )
        return Response(access_wire.granted(made))


class RevokeView(MailboxView):
    @describe(
        summary="Revoke a capability",
        tag="capabilities",
        body=RevokeBody,
        answer=access_wire.Revoked,
        errors=(403, 404),
        operation_id="revoke_capability",
    )
    def post(self, request: Request) -> Response:
        revoked = grants.revoke(self.caller, self.body(RevokeBody).grant_id)
        return Response(access_wire.revoked(revoked))


class RecentGrantsView(MailboxView):
    @describe(
        summary="List grants, newest first",
        tag="capabilities",
        query=requests.ListQuery,
        answer=access_wire.CapabilityList,
        operation_id="list_grants",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.grants(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.capability(grant) for grant in page.items]
        return Response(
            access_wire.CapabilityList(kind="capabilities", capabilities=rendered, next_cursor=page.next_cursor)
        )


class KeysView(MailboxView):
    @describe(
        summary="List API keys without their secrets: an agent sees its own, an admin sees all",
        tag="access",
        query=requests.ListQuery,
        answer=access_wire.ListedKeys,
        errors=(403,),
        operation_id="list_keys",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.key_list(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.key(key) for key in page.items]
        return Response(access_wire.ListedKeys(kind="a2a_keys", keys=rendered, next_cursor=page.next_cursor))

    @describe(
        summary="Add an API key",
        tag="access",
        body=KeyBody,
        answer=access_wire.KeyAdded,
        errors=(403, 404, 409),
        operation_id="add_key",
    )
    def post(self, request: Request) -> Response:
        body = self.body(KeyBody)
        agent = directory.identified(self.caller, body.agent) if body.agent else None
        if agent is None and body.username is None:
            agent = self.caller.agent
        made = keys.add_key(self.caller, agent=agent, username=body.username, expires_at=moment(body.expires_at))
        return Response(access_wire.new_key(made))


class RotateKeyView(MailboxView):
    @describe(
        summary="Replace the API key of this request; both are valid for a while",
        tag="access",
        body=RotateKeyBody,
        answer=access_wire.KeyRotated,
        errors=(403, 404, 409),
        operation_id="rotate_key",
    )
    def post(self, request: Request) -> Response:
        overlap = timedelta(milliseconds=self.body(RotateKeyBody).overlap_ms)
        return Response(access_wire.rotated(keys.rotate_key(self.caller, overlap=overlap)))


class RevokeKeyView(MailboxView):
    @describe(
        summary="Revoke an API key",
        tag="access",
        body=RevokeKeyBody,
        answer=access_wire.KeyRevoked,
        errors=(403, 404),
        operation_id="revoke_key",
    )
    def post(self, request: Request) -> Response:
        body = self.body(RevokeKeyBody)
        return Response(access_wire.key_revoked(keys.revoke_key(self.caller, body.public_id, with_made=body.with_made)))


class PeopleView(MailboxView):
    @describe(
        summary="List people by name",
        tag="access",
        query=requests.ListQuery,
        answer=access_wire.ListedPeople,
        errors=(403,),
        operation_id="list_people",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.people(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.person(person) for person in page.items]
        return Response(access_wire.ListedPeople(kind="a2a_people", people=rendered, next_cursor=page.next_cursor))


class RoutesView(MailboxView):
    @describe(
        summary="List public routes without their URLs, newest first",
        tag="access",
        query=requests.ListQuery,
        answer=access_wire.ListedRoutes,
        errors=(403,),
        operation_id="list_routes",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = credential_lists.public_routes(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.route(route) for route in page.items]
        return Response(access_wire.ListedRoutes(kind="a2a_routes", routes=rendered, next_cursor=page.next_cursor))

    @describe(
        summary="Add a public route: a secret URL that acts as an agent",
        tag="access",
        body=RouteBody,
        answer=access_wire.RouteAdded,
        errors=(403, 404),
        operation_id="add_route",
    )
    def post(self, request: Request) -> Response:
        body = self.body(RouteBody)
        rate = settings.A2A_ROUTE_RATE_LIMIT_PER_MIN if body.rate_limit is None else body.rate_limit
        made = public_routes.add(self.caller, directory.identified(self.caller, body.agent), rate_limit=rate)
        return Response(access_wire.new_route(made))


class RevokeRouteView(MailboxView):
    @describe(
        summary="Revoke a public route",
        tag="access",
        body=RevokeRouteBody,
        answer=access_wire.RouteRevoked,
        errors=(403, 404),
        operation_id="revoke_route",
    )
    def post(self, request: Request) -> Response:
        revoked = public_routes.revoke(self.caller, self.body(RevokeRouteBody).public_id)
        return Response(access_wire.route_revoked(revoked))
