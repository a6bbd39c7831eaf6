from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import connection, models

from mailbox.database.managers import managed_by

_SPEND = """
INSERT INTO mailbox_spentnonce (pubkey, nonce, expires_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""


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
