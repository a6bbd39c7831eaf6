from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db import connection, models
from django.db.models import Q

from mailbox.database import prepared
from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent

# One query reads the caller, its grants, and whether the nonce was spent.
_AUTHENTICATE = """
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
        moments = {"now": now, "idle": unused_since}
        adapted = {name: connection.ops.adapt_datetimefield_value(moment) for name, moment in moments.items()}
        values = {"pubkey": pubkey, "nonce": nonce, **adapted}
        if connection.vendor == "postgresql":
            return prepared.rows(_AUTHENTICATE, values)
        with connection.cursor() as cursor:
            cursor.execute(_AUTHENTICATE, values)
            rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
            return rows


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
