"""The attempts that a process has under way, shared fairly among senders and receivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from mailbox.models import PushDelivery
from mailbox.outbound import destinations


def pause_key(url: str, webhook: int | None) -> str:
    """Return what a pause holds up: the webhook with this primary key, or all callbacks to the receiver of the URL."""
    return destinations.receiver(url) if webhook is None else f"webhook {webhook}"


class DeliverySlots:
    """The attempts that a process has under way, by sender and by receiver, and how many each may have at once.

    None as a bound allows any number. ``paused`` holds, by `pause_key`, the moment until which there is no attempt.
    Receivers are spelled as `destinations.receiver` spells them, senders are primary keys.
    """

    def __init__(
        self,
        under_way: Iterable[PushDelivery] = (),
        *,
        per_sender: int | None = None,
        per_receiver: int | None = None,
        paused: Mapping[str, datetime] | None = None,
    ) -> None:
        self.per_sender, self.per_receiver, self.paused = per_sender, per_receiver, paused or {}
        self._senders: Counter[int] = Counter()
        self._receivers: Counter[str] = Counter()
        for delivery in under_way:
            self._count(delivery.sender_id, destinations.receiver(delivery.url))

    def copy(self) -> DeliverySlots:
        same = DeliverySlots(per_sender=self.per_sender, per_receiver=self.per_receiver, paused=self.paused)
        same._senders, same._receivers = self._senders.copy(), self._receivers.copy()
        return same

    def full_senders(self) -> list[int]:
        """Return the senders that may begin no further attempt."""
        return [sender for sender in self._senders if self._is_full(self._senders[sender], self.per_sender)]

    def take(self, sender: int, receiver: str) -> bool:
        """Count an attempt if the sender and the receiver may have one more. Return whether they may."""
        if self._is_full(self._senders[sender], self.per_sender):
            return False
        if self._is_full(self._receivers[receiver], self.per_receiver):
            return False
        self._count(sender, receiver)
        return True

    def _count(self, sender: int, receiver: str) -> None:
        self._senders[sender] += 1
        self._receivers[receiver] += 1

    @staticmethod
    def _is_full(count: int, most: int | None) -> bool:
        return most is not None and count >= most
