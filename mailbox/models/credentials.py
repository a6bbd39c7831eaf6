from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import Q

from mailbox.database import prepared
from mailbox.database.managers import Moment, managed_by
from mailbox.models.agent import Agent

WARNED_BEFORE = timedelta(days=30)

# One query reads the caller and its grants. Times are compared in SQL,
# so that no column needs a conversion that differs between the databases.
_AUTHENTICATE = """
SELECT k.id, k.digest, k.user_id, k.last_used_at IS NULL OR k.last_used_at < %(idle)s,
       a.id, a.display, a.pubkey,
       g.id, g.grant_id, g.action, g.scope, g.max_uses, g.granted_by
FROM mailbox_apikey k
LEFT JOIN mailbox_agent a ON a.id = k.agent_id
LEFT JOIN mailbox_capabilitygrant g ON g.subject_id = k.agent_id AND g.revoked_at IS NULL
  AND (g.expires_at IS NULL OR g.expires_at >= %(now)s) AND (g.max_uses IS NULL OR g.uses < g.max_uses)
WHERE k.public_id = %(public_id)s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > %(now)s)
"""
_SPEND = """
INSERT INTO mailbox_spentnonce (pubkey, nonce, expires_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""


def _looked_up(sql: str, *, now: datetime, unused_since: datetime, **values: str) -> Sequence[tuple[Any, ...]]:
    adapt = connections[DEFAULT_DB_ALIAS].ops.adapt_datetimefield_value
    return prepared.rows(sql, {**values, "now": adapt(now), "idle": adapt(unused_since)})


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def visible_to(self, party: Agent | None) -> ApiKeyQuerySet:
        """Narrow to the keys of this agent. None sees all keys."""
        return self if party is None else self.filter(agent=party)

    def live(self, now: Moment) -> ApiKeyQuerySet:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def expired(self, now: datetime) -> ApiKeyQuerySet:
        return self.filter(expires_at__lte=now, revoked_at=None)

    def not_replaced(self, now: datetime) -> ApiKeyQuerySet:
        """Leave out keys whose successor is live: they are valid until their overlap has ended."""
        return self.exclude(public_id__in=ApiKey.objects.live(now).exclude(replaces="").values("replaces"))

    def credential_rows(self, public_id: str, *, now: datetime, unused_since: datetime) -> Sequence[tuple[Any, ...]]:
        """Return the live key with its owner, once for each live grant of the owner; an empty list without one."""
        return _looked_up(_AUTHENTICATE, now=now, unused_since=unused_since, public_id=public_id)


class ApiKey(models.Model):
    """A credential of an agent, or of a person for automation. Only the SHA-256 of the key is stored."""

    agent = models.ForeignKey("mailbox.Agent", models.CASCADE, null=True, blank=True, related_name="keys")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+")
    public_id = models.CharField(max_length=8, unique=True)  # the look-up part of the key, not secret
    digest = models.CharField(max_length=64)  # hex SHA-256 of the whole key
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)  # None: no expiry
    revoked_at = models.DateTimeField(null=True, blank=True)  # set once; None: live
    last_used_at = models.DateTimeField(null=True, blank=True)  # coarse: written at most once a minute
    # Public id of the key with which this key was made; blank for the command line, a session or an earlier version.
    made_by = models.CharField(max_length=8, blank=True, default="", db_default="")
    # Public id of the key that this key succeeds since a rotation; blank for a key that was added.
    replaces = models.CharField(max_length=8, blank=True, default="", db_default="")
    # Whether only A2A_KEY_MAX_AGE_MS set `expires_at`. The successor of such a key then starts a new age.
    renews = models.BooleanField(default=False, db_default=False)

    objects: ClassVar[ApiKeyQuerySet] = managed_by(ApiKeyQuerySet)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(agent=None, user__isnull=False) | Q(agent__isnull=False, user=None),
                name="api_key_belongs_to_agent_or_user",
            )
        ]

    def __str__(self) -> str:
        return f"a2a_{self.public_id}_…"

    @property
    def owner(self) -> str:
        """The display of the agent, or the username of the person."""
        return str(self.agent or self.user)

    @property
    def is_certificate(self) -> bool:
        """Whether this is the row of a client certificate: its public id is the start of its digest."""
        return self.digest.startswith(self.public_id)

    def expires_soon(self, now: datetime) -> bool:
        """Whether the key expires within `WARNED_BEFORE`, or is in the last third of a shorter life."""
        if self.expires_at is None:
            return False
        return self.expires_at - now <= min(WARNED_BEFORE, (self.expires_at - self.created_at) / 3)


class SpentNonceQuerySet(models.QuerySet["SpentNonce"]):
    def spend(self, pubkey: str, nonce: str, expires_at: datetime) -> bool:
        """Insert a row; return whether the nonce was unspent. Waits for a transaction that spends the same nonce."""
        moment = connection.ops.adapt_datetimefield_value(expires_at)
        with connection.cursor() as cursor:
            cursor.execute(_SPEND, [pubkey, nonce, moment])
            return bool(cursor.rowcount)

    def expired(self, before: datetime) -> SpentNonceQuerySet:
        return self.filter(expires_at__lt=before)


class SpentNonce(models.Model):
    """The nonce of a signed request that was answered. No second request with it takes effect.

    The row is inserted in the transaction of the request's change, so a request that changed nothing spends nothing
    until it is answered.
    """

    pubkey = models.CharField(max_length=64)  # the key that signed
    nonce = models.CharField(max_length=64)
    expires_at = models.DateTimeField(db_index=True)  # of the signature; the row is of no use any more then

    objects: ClassVar[SpentNonceQuerySet] = managed_by(SpentNonceQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pubkey", "nonce"], name="spent_nonce_unique")]

    def __str__(self) -> str:
        return f"{self.pubkey} {self.nonce}"


class ProviderAccount(models.Model):
    """The account at a provider of OpenID Connect by which the hub knows a person. A person has one at each issuer."""

    LONGEST_SUBJECT: ClassVar = 255  # characters, all of them ASCII: OpenID Connect Core

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    issuer = models.TextField()
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    linked_at = models.DateTimeField()  # of the first sign-in

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="provider_account_unique"),
            models.UniqueConstraint(fields=["person", "issuer"], name="provider_account_of_person"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class PublicRouteQuerySet(models.QuerySet["PublicRoute"]):
    def live(self) -> PublicRouteQuerySet:
        return self.filter(revoked_at=None)


class PublicRoute(models.Model):
    """A secret URL, ``/p/<token>/``, that acts as an agent, for clients that cannot authenticate.

    Only the SHA-256 of the token is stored. A hub has no public route until an operator adds one.
    """

    agent = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="routes")
    public_id = models.CharField(max_length=8, unique=True)  # the look-up part of the token, not secret
    digest = models.CharField(max_length=64)  # hex SHA-256 of the whole token
    rate_limit = models.PositiveIntegerField()  # requests a minute
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)  # set once; None: open
    last_used_at = models.DateTimeField(null=True, blank=True)  # coarse: written at most once a minute

    objects: ClassVar[PublicRouteQuerySet] = managed_by(PublicRouteQuerySet)

    def __str__(self) -> str:
        return f"/p/p_{self.public_id}_…"


# One query reads the caller, its grants, and whether the nonce was spent.
_AUTHENTICATE_BY_SIGNATURE = """
SELECT s.id, s.last_used_at IS NULL OR s.last_used_at < %(idle)s,
       EXISTS (SELECT 1 FROM mailbox_spentnonce n WHERE n.pubkey = s.pubkey AND n.nonce = %(nonce)s),
       a.id, a.display, a.pubkey,
       g.id, g.grant_id, g.action, g.scope, g.max_uses, g.granted_by
FROM mailbox_signingkey s
JOIN mailbox_agent a ON a.id = s.agent_id
LEFT JOIN mailbox_capabilitygrant g ON g.subject_id = s.agent_id AND g.revoked_at IS NULL
  AND (g.expires_at IS NULL OR g.expires_at >= %(now)s) AND (g.max_uses IS NULL OR g.uses < g.max_uses)
WHERE s.pubkey = %(pubkey)s AND s.retired_at IS NULL
"""


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    def live(self) -> SigningKeyQuerySet:
        return self.filter(retired_at=None)

    def of_agent(self, agent: Agent) -> SigningKeyQuerySet:
        return self.filter(agent=agent)

    def oldest_first(self) -> SigningKeyQuerySet:
        return self.order_by("pk")

    def credential_rows(
        self, pubkey: str, nonce: str, *, now: datetime, unused_since: datetime
    ) -> Sequence[tuple[Any, ...]]:
        """Return the live key with its agent, once for each live grant of the agent; an empty list without one."""
        return _looked_up(_AUTHENTICATE_BY_SIGNATURE, now=now, unused_since=unused_since, pubkey=pubkey, nonce=nonce)


class SigningKey(models.Model):
    """A public key by which an agent signs requests. Its holder has proved that it has the private key.

    An agent has at most one live key. Retired keys stay as rows, so that old signatures can be attributed and no
    retired key comes back. The key of ``Agent.pubkey`` is one of them if it was proved. It names the agent for ever,
    also after it was retired.
    """

    agent = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="signing_keys")
    pubkey = models.CharField(max_length=64, unique=True)  # base58 of the 32 bytes of an Ed25519 key
    proven_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)  # set once; None: live
    last_used_at = models.DateTimeField(null=True, blank=True)  # coarse: written at most once a minute

    objects: ClassVar[SigningKeyQuerySet] = managed_by(SigningKeyQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent"], condition=Q(retired_at=None), name="signing_key_one_live")
        ]

    def __str__(self) -> str:
        return self.pubkey
