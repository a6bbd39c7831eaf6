"""Sealing: signs blocks of the journal, so that a later change of a row shows. It runs beside the writers."""

import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from mailbox.database import settled, write_turns
from mailbox.journal import seals
from mailbox.models import AuditEvent, Seal
from mailbox.words import json_text, sealed
from mailbox.words.errors import MailboxError

BLOCK = 1000  # rows of a block, at most
RIPE_AFTER = timedelta(seconds=5)
CLOCKS_DIFFER = timedelta(minutes=1)  # a row of a later time is not young: its clock or its time is wrong
SEALS_FOR = 20.0  # seconds of each minute
ANCHOR_WITHIN = 10.0  # seconds
_logger = logging.getLogger(__name__)


class BrokenSealsError(Exception):
    """The journal no longer has the seals that were made of it. Sealing it anew would hide that."""


class AnchorError(Exception):
    """The server of A2A_SEAL_ANCHOR_URL did not accept the head."""


def seal(*, seconds: float = SEALS_FOR) -> int:
    """Seal the ripe rows of the journal in blocks, for at most about ``seconds``; return the number of blocks.

    A row is ripe once it is `RIPE_AFTER` old and no row with a smaller id can still be committed. Each block commits by
    itself. Of two passes at once, one seals each block: the constraints of `Seal` refuse the other. If a pass is cut
    off, the next continues. Stores the head with each block, records it beside the key, and posts it to
    A2A_SEAL_ANCHOR_URL. Raises `BrokenSealsError` if a recorded head is not in the journal, if the newest seal was
    changed, or if a row is unreadable. Raises `AnchorError` if the head was not accepted. Locks and journals nothing.
    """
    _require_whole()
    last = settled.through(AuditEvent)
    if last is None:
        _logger.warning("the journal is not sealed: a transaction that writes it has not ended")
        return 0
    give_up_at = time.monotonic() + seconds
    made, head = 0, None
    while time.monotonic() < give_up_at and (block := _seal_next(last)):
        made, head = made + 1, seals.Head.of(block)
    if head is not None:
        head.record()
        _logger.info("the journal is sealed up to row %s; head %s", head.last_id, head.hash)
        _anchor(head)
    return made


def _require_whole() -> None:
    if lost := seals.lost_head():
        raise BrokenSealsError(f"the seal of the rows up to {lost.last_id} is missing or was changed")
    newest = Seal.objects.newest()
    if newest is not None and not newest.block.is_signed():
        raise BrokenSealsError(f"the seal of the rows up to {newest.last_id} was changed")


def _seal_next(last: int) -> sealed.Block | None:
    """Seal the next block up to the row ``last``; return it, or None if no row is ripe or another pass sealed it."""
    before = Seal.objects.newest()
    first, previous = (before.last_id + 1, before.block.hash) if before else (1, sealed.NO_BLOCK)
    leaves = [(row["id"], sealed.leaf(sealed.NEWEST_FORM, row)) for row in islice(_ripe(first, last), BLOCK)]
    if not leaves:
        return None
    made = Seal(
        form=sealed.NEWEST_FORM,
        first_id=first,
        last_id=leaves[-1][0],
        count=len(leaves),
        root=sealed.merkle_root([leaf for _, leaf in leaves]).hex(),
        previous=previous,
        sealed_at=timezone.now(),
        marks=sealed.marks(leaves),
        key=sealed.public_key(settings.A2A_SEAL_KEY),
    )
    made.signature = sealed.signature(settings.A2A_SEAL_KEY, made.block.statement)
    try:
        with write_turns.turn(), transaction.atomic():
            made.save(force_insert=True)
            seals.Head.of(made.block).store()
    except IntegrityError:
        return None
    return made.block


def _ripe(first: int, last: int) -> Iterator[sealed.Row]:
    """Yield the rows from ``first`` to ``last``, until the first young row."""
    now = timezone.now()
    for row in seals.rows(first, last):
        if "at" not in row:
            raise BrokenSealsError(
                f"row {row['id']} was changed: a column cannot be read, or is spelled in another way"
            )
        if now - RIPE_AFTER < row["at"] <= now + CLOCKS_DIFFER:
            return
        yield row


def _anchor(head: seals.Head) -> None:
    """Post the head to A2A_SEAL_ANCHOR_URL, if that is set. Raises `AnchorError`."""
    url = settings.A2A_SEAL_ANCHOR_URL
    if not url:
        return
    # The HTTP client takes 10 MB of memory, which the process of the sweep otherwise does without.
    from mailbox.outbound import exchange

    content = json_text.dumps(
        {"hub": settings.PUBLIC_URL, "last_id": head.last_id, "head": head.hash, "key": seals.trusted_keys()[0]}
    )
    headers = {"Content-Type": "application/json"}
    try:
        answer = exchange.exchange("POST", url, within=ANCHOR_WITHIN, headers=headers, content=content.encode())
    except MailboxError as error:
        raise AnchorError(f"the server of A2A_SEAL_ANCHOR_URL did not accept the head: {error.code}") from error
    if not answer.is_success:
        raise AnchorError(f"the server of A2A_SEAL_ANCHOR_URL answered {answer.status}")
