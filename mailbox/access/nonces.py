"""The nonces of signed requests. Each takes effect once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import SpentNonce
from mailbox.words.errors import BadSignatureError, SignatureFault

KEPT_AFTER_EXPIRY = timedelta(minutes=10)  # the clocks of two web servers may differ, and a long poll may go on
DROPPED_AT_ONCE = 1000  # rows; an agent may spend 500 nonces a second
_REPLAYED = "A request with this nonce was answered before. Sign each request anew."


@dataclass(slots=True, eq=False)
class Nonce:
    """The nonce of one signed request, which its caller carries."""

    pubkey: str
    value: str
    expires_at: datetime
    is_spent: bool = False  # by this request, in a transaction that was committed

    def spend(self) -> None:
        """Spend the nonce in the current transaction, unless this request has. `committed` must follow its commit.

        Raises `BadSignatureError` if another request has spent it.
        """
        if not self.is_spent and not SpentNonce.objects.spend(self.pubkey, self.value, self.expires_at):
            raise replayed()

    def committed(self) -> None:
        """Note that the transaction of `spend` was committed."""
        self.is_spent = True

    def spend_alone(self) -> None:
        """Spend the nonce of a request that changed nothing, in a transaction of its own. Raises as `spend` does."""
        if not self.is_spent:
            with write_turns.turn(), transaction.atomic(durable=True):
                self.spend()
            self.committed()


def replayed() -> BadSignatureError:
    """Return the error for a nonce that another request has spent."""
    return BadSignatureError(SignatureFault.REPLAYED, _REPLAYED)


def drop_expired() -> int:
    """Drop the rows of nonces whose signatures expired; return their number.

    Each transaction drops at most `DROPPED_AT_ONCE` rows. Journals nothing.
    """
    before, total = timezone.now() - KEPT_AFTER_EXPIRY, 0
    while old := list(SpentNonce.objects.expired(before).values_list("pk", flat=True)[:DROPPED_AT_ONCE]):
        with write_turns.turn(), transaction.atomic(durable=True):
            total += SpentNonce.objects.filter(pk__in=old).delete()[0]
    return total
