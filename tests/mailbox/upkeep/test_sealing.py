import json
import logging
import threading
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import ProgrammingError, connection, connections, transaction
from django.utils import timezone

from mailbox.database import settled, vitals
from mailbox.journal import seals
from mailbox.journal.seals import Head
from mailbox.models import AuditEvent, Seal
from mailbox.upkeep import sealing, verification
from mailbox.words import sealed
from tests.support import pages, races, tampering
from tests.support.pauses import Clock
from tests.support.receiver import receiver
from tests.support.tampering import old_rows

pytestmark = pytest.mark.django_db

PAGE = pages.page("docs/operate/postgresql.md")


def test_the_newest_form_covers_every_column_of_the_journal():
    columns = {field.column for field in AuditEvent._meta.concrete_fields}

    assert set(sealed.FORMS[sealed.NEWEST_FORM]) == columns


def test_blocks_cover_all_ids_without_a_hole_and_name_each_other(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 10)
    rows = old_rows(25)

    made = sealing.seal()

    blocks = [seal.block for seal in Seal.objects.order_by("first_id")]
    assert made == len(blocks) == 3
    assert [block.count for block in blocks] == [10, 10, 5]
    assert blocks[0].first_id == 1
    assert blocks[-1].last_id == rows[-1].pk
    for before, after in pairwise(blocks):
        assert after.first_id == before.last_id + 1
        assert after.previous == before.hash


def test_young_rows_stay_unsealed_and_are_counted():
    old = old_rows(3)
    old_rows(2, at=timezone.now())

    sealing.seal()

    found = verification.verify()
    assert Seal.objects.get().last_id == old[-1].pk
    assert (found.finding, found.rows, found.unsealed) == (None, 3, 2)


def test_a_row_of_a_time_far_ahead_does_not_hold_up_the_sealing():
    old_rows(2, at=timezone.now() + timedelta(days=400))

    assert sealing.seal() == 1


def test_a_pass_without_new_rows_makes_no_seal():
    old_rows(3)
    sealing.seal()

    assert sealing.seal() == 0
    assert Seal.objects.count() == 1


def test_a_hub_whose_newest_seals_are_gone_does_not_seal_their_rows_anew():
    old_rows(3)
    sealing.seal()
    Seal.objects.all().delete()

    with pytest.raises(sealing.BrokenSealsError, match="is missing or was changed"):
        sealing.seal()


def test_a_hub_does_not_continue_a_seal_that_was_changed():
    old_rows(3)
    sealing.seal()
    Seal.objects.update(count=4)
    seals.head_file().unlink()

    with pytest.raises(sealing.BrokenSealsError, match="was changed"):
        sealing.seal()


def test_the_head_is_recorded_and_logged(caplog):
    old_rows(1)

    with caplog.at_level(logging.INFO):
        sealing.seal()

    head = Head.of(Seal.objects.get().block)
    assert Head.recorded() == head
    assert head.hash in caplog.text


@pytest.mark.django_db(transaction=True)
def test_of_two_passes_at_once_one_seals_each_block(monkeypatch):
    monkeypatch.setattr(sealing, "BLOCK", 5)
    old_rows(40)

    made = races.answers(sealing.seal, sealing.seal, sealing.seal)

    assert sum(made) == Seal.objects.count() == 8
    assert verification.verify().finding is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite commits ids in their order")
def test_no_row_is_sealed_while_a_smaller_id_may_still_be_committed(monkeypatch):
    monkeypatch.setattr(settled, "time", Clock())
    inserted, end = threading.Event(), threading.Event()

    def slow():
        try:
            with transaction.atomic():
                old_rows(1)
                inserted.set()
                end.wait()
        finally:
            connections.close_all()

    writer = threading.Thread(target=slow)
    writer.start()
    inserted.wait()
    later = old_rows(2)
    before = sealing.seal()
    end.set()
    writer.join()
    after = sealing.seal()

    assert (before, after) == (0, 1)
    assert Seal.objects.get().count == 3
    assert min(AuditEvent.objects.values_list("pk", flat=True)) < later[0].pk
    assert verification.verify().finding is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite draws no id without the write lock")
def test_an_id_that_was_drawn_without_a_transaction_number_holds_up_the_sealing(monkeypatch):
    """A transaction draws its id, and only then gets a number: no snapshot shows it in between."""
    monkeypatch.setattr(settled, "time", Clock())
    drawn, end = threading.Event(), threading.Event()

    def slow():
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {tampering.TABLE} IN ROW EXCLUSIVE MODE")
                cursor.execute(f"SELECT nextval(pg_get_serial_sequence('{tampering.TABLE}', 'id'))")
                (key,) = cursor.fetchone()
                drawn.set()
                end.wait()
                old_rows(1, pk=key)
        finally:
            connections.close_all()

    writer = threading.Thread(target=slow)
    writer.start()
    drawn.wait()
    old_rows(2)
    before = sealing.seal()
    end.set()
    writer.join()

    assert (before, sealing.seal()) == (0, 1)
    assert verification.verify().finding is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite gives the next id after the largest")
def test_a_row_beyond_the_drawn_ids_is_not_sealed(monkeypatch):
    monkeypatch.setattr(settled, "time", Clock())
    rows = old_rows(2)
    old_rows(1, pk=rows[-1].pk + 10**12)

    sealing.seal()
    old_rows(3)
    sealing.seal()

    found = verification.verify()
    assert (found.finding, found.rows, found.unsealed) == (None, 5, 1)


def test_the_head_is_posted_to_the_anchor(loopback, settings):
    old_rows(1)
    with receiver() as anchor:
        settings.A2A_SEAL_ANCHOR_URL = anchor.url
        sealing.seal()

    head = Head.of(Seal.objects.get().block)
    assert json.loads(anchor.calls[0][1]) == {
        "hub": settings.PUBLIC_URL,
        "last_id": head.last_id,
        "head": head.hash,
        "key": sealed.public_key(settings.A2A_SEAL_KEY),
    }


def test_an_anchor_that_may_not_be_called_fails_the_step_and_keeps_the_seals(settings):
    old_rows(1)
    settings.A2A_SEAL_ANCHOR_URL = "http://127.0.0.1:9/anchor"

    with pytest.raises(sealing.AnchorError, match="blocked_url"):
        sealing.seal()

    assert verification.verify().finding is None
    assert Seal.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no roles")
def test_a_role_with_the_rights_of_the_page_adds_rows_seals_and_changes_none():
    old_rows(2)
    (granting,) = [code for language, code in pages.BLOCK.findall(PAGE) if language == "sql" and "GRANT" in code]
    with connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS hub_web_of_tests")
        cursor.execute("CREATE ROLE hub_web_of_tests")
        cursor.execute(granting.replace("hub_web", "hub_web_of_tests"))
        owner = vitals.rights_to_change(tampering.TABLE)
        cursor.execute("SET ROLE hub_web_of_tests")
        try:
            made, held = sealing.seal(), vitals.rights_to_change(tampering.TABLE)
            with pytest.raises(ProgrammingError, match="permission denied"):
                cursor.execute("UPDATE mailbox_auditevent SET actor = actor")
        finally:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP OWNED BY hub_web_of_tests")
            cursor.execute("DROP ROLE hub_web_of_tests")

    assert (made, held) == (1, [])
    assert owner == ["UPDATE", "DELETE", "TRUNCATE", "TRIGGER"]
    assert verification.verify().finding is None
