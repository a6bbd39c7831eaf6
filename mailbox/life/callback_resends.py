"""Sends many callbacks again that were given up: each by itself, and a receipt of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.life import callbacks
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import InvalidRequestError, UnknownDeliveryError

CAP = 200  # callbacks at once


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResendReceipt:
    """The ids of the callbacks that are sent again, and of those that were left alone.

    A callback is left alone if it is gone, is no longer given up, or belongs to a deleted webhook.
    """

    sent: Sequence[UUID]
    left: Sequence[UUID]


def resend_given_up(caller: Caller, delivery_ids: Sequence[UUID], *, reason: str) -> BulkResendReceipt:
    """Make the given-up callbacks of these ids due now, at most `CAP`. Needs ``a2a.push.resend``.

    Each is one decision, as `callbacks.resend` makes it. Raises `InvalidRequestError` for a blank reason and for more
    ids, and a capability error at the first callback.
    """
    reason = check_reason(reason)
    if len(delivery_ids) > CAP:
        raise InvalidRequestError({"delivery_id": f"at most {CAP} callbacks are sent again at once"})
    sent: list[UUID] = []
    left: list[UUID] = []
    for delivery_id in dict.fromkeys(delivery_ids):
        try:
            callbacks.resend(caller, delivery_id, reason=reason, only_given_up=True)
        except (InvalidRequestError, UnknownDeliveryError):
            left.append(delivery_id)
        else:
            sent.append(delivery_id)
    return BulkResendReceipt(sent=sent, left=left)
