import random
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connections, transaction

from mailbox.database import settled
from mailbox.models import AuditEvent, Seal
from mailbox.upkeep import sealing, verification
from tests.support import tampering
from tests.support.pauses import Clock
from tests.support.tampering import TAMPERINGS, triggers_off

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 4


@pytest.fixture
def sealed_journal(monkeypatch):
    """Return the seals of a journal of 16 blocks with gaps, which several writers wrote while it was sealed."""
    monkeypatch.setattr(sealing, "BLOCK", 20)
    monkeypatch.setattr(settled, "time", Clock())

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(_write, number) for number in range(WRITERS)]
        while not all(writer.done() for writer in writers):
            sealing.seal()
        for writer in writers:
            writer.result()
    tampering.old_rows(100)
    sealing.seal()
    return list(Seal.objects.order_by("first_id"))


def _write(number):
    """Commit some rows of several transactions, and roll others back. An id of PostgreSQL is then without a row."""
    chance = random.Random(number)  # noqa: S311
    try:
        for turn in range(20):
            with transaction.atomic():
                tampering.old_rows(chance.randrange(1, 5), task_id=uuid4())
                if turn % 5 == 0:
                    transaction.set_rollback(True)
    finally:
        connections.close_all()


def _gap():
    """Make gaps on SQLite too, where a rolled-back id is used again."""
    tampering.old_rows(1, pk=AuditEvent.objects.latest("pk").pk + 3)


@pytest.mark.parametrize(
    "rounds", [pytest.param(len(TAMPERINGS), id="each kind"), pytest.param(200, id="200", marks=pytest.mark.deep)]
)
def test_every_tampering_is_reported_with_its_block(sealed_journal, rounds):
    _gap()
    sealing.seal()
    seals = list(Seal.objects.order_by("first_id"))
    missed = []

    for number in range(rounds):
        assert verification.verify().finding is None
        with transaction.atomic():
            tamper = TAMPERINGS[number % len(TAMPERINGS)]
            with triggers_off():
                expected = tamper(random.Random(number), seals)  # noqa: S311
            found = verification.verify().finding
            transaction.set_rollback(True)
        if not _names(found, expected):
            missed.append((number, tamper.__name__, expected, found))

    assert missed == []


def _names(found, expected):
    if found is None or (found.first_id, found.last_id) != (expected.first_id, expected.last_id):
        return False
    return expected.row is None or found.row == expected.row


def test_a_journal_that_was_written_and_sealed_at_once_raises_no_alarm(sealed_journal):
    found = verification.verify()

    assert found.finding is None
    assert found.rows == AuditEvent.objects.count()
    assert (found.blocks, found.unsealed) == (len(sealed_journal), 0)
