from uuid import UUID

import pytest
from django.db import connection

from mailbox.journal import seals
from mailbox.models import AuditEvent, Seal, SealHead
from mailbox.upkeep import sealing, verification
from mailbox.words import sealed
from mailbox.words.errors import NotSealedError
from tests.support import merkle, tampering
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db


def problem_of(found):
    assert found.finding is not None
    return found.finding


def test_a_seal_of_an_earlier_key_is_right_only_if_its_key_is_trusted(settings):
    old_rows(3)
    sealing.seal()
    earlier = sealed.public_key(settings.A2A_SEAL_KEY)
    settings.A2A_SEAL_KEY = "ab" * 32

    found = verification.verify().finding
    settings.A2A_SEAL_TRUSTED_KEYS = [earlier]

    assert found is not None
    assert found.problem == f"the seal is signed by an unknown key, {earlier}"
    assert verification.verify().finding is None


def test_a_head_that_was_recorded_elsewhere_is_looked_for(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 2)
    old_rows(6)
    sealing.seal()
    heads = [seal.block.hash for seal in Seal.objects.order_by("first_id")]

    assert [verification.verify(head=head).finding for head in heads] == [None] * 3
    assert problem_of(verification.verify(head="0" * 64)).problem == f"no block has the hash {'0' * 64}"


def test_a_record_of_the_head_that_cannot_be_read_is_an_alarm():
    old_rows(1)
    sealing.seal()
    seals.head_file().write_text("{}")

    assert problem_of(verification.verify()).problem == verification.UNREADABLE_RECORD


def test_the_row_of_the_head_shows_deleted_blocks_where_no_file_has_it(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 2)
    rows = old_rows(4)
    sealing.seal()
    seals.head_file().unlink()
    Seal.objects.latest("last_id").delete()
    with triggers_off():
        AuditEvent.objects.filter(pk__gte=rows[2].pk).delete()

    found = problem_of(verification.verify())

    assert (found.problem, found.last_id) == (
        "the journal ends before the newest block that was recorded, or that block was changed",
        rows[3].pk,
    )
    assert verification.verify(restored_keys=["ab" * 32]).finding == found
    assert seals.state().problem == f"the block up to row {rows[3].pk} is missing or was changed"
    with pytest.raises(sealing.BrokenSealsError, match="missing or was changed"):
        sealing.seal()

    SealHead.objects.all().delete()  # as an operator does who knows the reason
    old_rows(1)
    assert (sealing.seal(), verification.verify().finding) == (1, None)


def test_the_row_of_the_head_follows_each_block(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 2)
    old_rows(4)
    sealing.seal()

    old_rows(1)
    sealing.seal()

    head = SealHead.objects.get()
    assert (head.last_id, head.hash) == (
        Seal.objects.latest("last_id").last_id,
        Seal.objects.latest("last_id").block.hash,
    )


def test_a_verification_in_steps_finds_what_one_of_all_blocks_finds(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 2)
    rows = old_rows(7)
    sealing.seal()
    with triggers_off():
        AuditEvent.objects.filter(pk=rows[5].pk).update(actor="mallory@local")

    steps, after = [], None
    while True:
        steps.append(verification.verify(after=after, blocks=1))
        after = steps[-1].next_after
        if after is None:
            break

    assert [step.blocks for step in steps] == [1, 1, 0]
    assert steps[-1].finding == verification.verify().finding
    assert problem_of(steps[-1]).row == rows[5].pk


@pytest.mark.skipif(connection.vendor == "postgresql", reason="PostgreSQL has one spelling of a value")
@pytest.mark.parametrize("spelled", tampering.SPELLINGS)
def test_a_row_that_is_spelled_in_another_way_is_named(spelled):
    rows = [row for number in range(3) for row in old_rows(1, task_id=UUID(int=0xABCDEF00 + number), seq=1)]
    sealing.seal()
    with triggers_off():
        tampering.change(tampering.TABLE, spelled, rows[1].pk)

    assert problem_of(verification.verify()).row == rows[1].pk


@pytest.mark.skipif(connection.vendor == "postgresql", reason="PostgreSQL has one spelling of a value")
@pytest.mark.parametrize("spelled", tampering.SPELLINGS_OF_SEAL)
def test_a_seal_that_is_spelled_in_another_way_is_named(spelled):
    last = old_rows(2)[-1].pk
    sealing.seal()
    tampering.change("mailbox_seal", spelled, Seal.objects.get().pk)

    assert problem_of(verification.verify()).last_id == last


@pytest.mark.skipif(connection.vendor == "postgresql", reason="SQLite can be checked without rights of its own")
@pytest.mark.django_db(transaction=True)
def test_a_row_that_an_index_leaves_out_is_named():
    rows = old_rows(3)
    sealing.seal()
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX hiding ON {tampering.TABLE} (request_id) WHERE id <> {rows[1].pk}")
        cursor.execute("PRAGMA writable_schema = ON")
        whole = f"CREATE INDEX hiding ON {tampering.TABLE} (request_id)"
        cursor.execute("UPDATE sqlite_master SET sql = %s WHERE name = 'hiding'", [whole])
        cursor.execute("PRAGMA writable_schema = RESET")
        try:
            found = problem_of(verification.verify()).problem
        finally:
            cursor.execute("DROP INDEX hiding")

    assert found == "the table or an index of it is damaged: row 2 missing from index hiding"


def test_a_range_checks_the_blocks_that_hold_its_rows(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 2)
    rows = old_rows(8)
    sealing.seal()
    with triggers_off():
        AuditEvent.objects.filter(pk=rows[0].pk).update(actor="mallory@local")

    later = verification.verify(first=rows[3].pk, last=rows[4].pk)

    assert (later.finding, later.blocks) == (None, 2)
    assert problem_of(verification.verify(last=rows[1].pk)).row == rows[0].pk


def test_a_proof_leads_from_the_row_to_the_signed_root():
    rows = old_rows(5)
    sealing.seal()

    proof = verification.prove(rows[2].pk)

    assert proof.row["data"] == rows[2].data
    assert merkle.climb(sealed.leaf(proof.block.form, proof.row), proof.steps).hex() == proof.block.root
    assert proof.block.is_signed()


def test_there_is_no_proof_of_a_row_that_is_not_sealed_or_was_changed():
    rows = old_rows(2)

    with pytest.raises(NotSealedError, match="not sealed yet"):
        verification.prove(rows[0].pk)
    sealing.seal()
    with triggers_off():
        AuditEvent.objects.filter(pk=rows[1].pk).update(actor="mallory@local")
    with pytest.raises(NotSealedError, match="not whole: the row was changed"):
        verification.prove(rows[0].pk)
