"""Grants, API keys, people and public routes over HTTP, for operators and for agents that hold the capability."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from pydantic import Field

from mailbox.access import credential_lists
from mailbox.access.agents import directory, grants
from mailbox.access.credentials import keys, public_routes
from mailbox.access.credentials.public_routes import HIGHEST_RATE
from mailbox.dialects.base.bodies import AgentField, DateMs, Exact, Integer, Text, moment
from mailbox.dialects.base.openapi import operation
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
    @operation("grant_capability", errors=(403, 404))
    def post(self, body: GrantBody) -> access_wire.Granted:
        made = grants.grant(
            self.caller,
            directory.identified(self.caller, body.subject),
            body.action,
            scope=body.scope,
            expires_at=moment(body.expires_at),
            max_uses=body.max_uses,
        )
        return access_wire.granted(made)


class RevokeView(MailboxView):
    @operation("revoke_capability", errors=(403, 404))
    def post(self, body: RevokeBody) -> access_wire.Revoked:
        return access_wire.revoked(grants.revoke(self.caller, body.grant_id))


class RecentGrantsView(MailboxView):
    @operation("list_grants")
    def get(self, query: requests.ListQuery) -> access_wire.CapabilityList:
        page = lists.grants(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.capability(grant) for grant in page.items]
        return {"kind": "capabilities", "capabilities": rendered, "next_cursor": page.next_cursor}


class KeysView(MailboxView):
    @operation("list_keys", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedKeys:
        page = credential_lists.key_list(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.key(key) for key in page.items]
        return {"kind": "a2a_keys", "keys": rendered, "next_cursor": page.next_cursor}

    @operation("add_key", errors=(403, 404, 409))
    def post(self, body: KeyBody) -> access_wire.KeyAdded:
        agent = directory.identified(self.caller, body.agent) if body.agent else None
        if agent is None and body.username is None:
            agent = self.caller.agent
        made = keys.add_key(self.caller, agent=agent, username=body.username, expires_at=moment(body.expires_at))
        return access_wire.new_key(made)


class RotateKeyView(MailboxView):
    @operation("rotate_key", errors=(403, 404, 409))
    def post(self, body: RotateKeyBody) -> access_wire.KeyRotated:
        return access_wire.rotated(keys.rotate_key(self.caller, overlap=timedelta(milliseconds=body.overlap_ms)))


class RevokeKeyView(MailboxView):
    @operation("revoke_key", errors=(403, 404))
    def post(self, body: RevokeKeyBody) -> access_wire.KeyRevoked:
        return access_wire.key_revoked(keys.revoke_key(self.caller, body.public_id, with_made=body.with_made))


class PeopleView(MailboxView):
    @operation("list_people", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedPeople:
        page = credential_lists.people(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.person(person) for person in page.items]
        return {"kind": "a2a_people", "people": rendered, "next_cursor": page.next_cursor}


class RoutesView(MailboxView):
    @operation("list_routes", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedRoutes:
        page = credential_lists.public_routes(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.route(route) for route in page.items]
        return {"kind": "a2a_routes", "routes": rendered, "next_cursor": page.next_cursor}

    @operation("add_route", errors=(403, 404))
    def post(self, body: RouteBody) -> access_wire.RouteAdded:
        rate = settings.A2A_ROUTE_RATE_LIMIT_PER_MIN if body.rate_limit is None else body.rate_limit
        made = public_routes.add(self.caller, directory.identified(self.caller, body.agent), rate_limit=rate)
        return access_wire.new_route(made)


class RevokeRouteView(MailboxView):
    @operation("revoke_route", errors=(403, 404))
    def post(self, body: RevokeRouteBody) -> access_wire.RouteRevoked:
        return access_wire.route_revoked(public_routes.revoke(self.caller, body.public_id))
