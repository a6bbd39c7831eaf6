import json

import pytest
from django.core.management.base import CommandError

from mailbox.journal import seals
from mailbox.models import AuditEvent, Seal, SealHead
from mailbox.upkeep import sealing, verification
from mailbox.words import sealed
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def journal(monkeypatch):
    """Return the rows of a journal of three blocks, and one row without a seal."""
    monkeypatch.setattr(sealing, "BLOCK", 2)
    rows = old_rows(6)
    sealing.seal()
    return [*rows, *old_rows(1)]


def test_a_whole_journal_is_reported_with_its_head(a2a, journal):
    head = Seal.objects.latest("last_id").block.hash

    assert a2a("audit", "verify").splitlines() == [
        "the journal is whole: 6 row(s) in 3 block(s) are as sealed",
        "1 newest row(s) are not sealed yet",
        f"head {head} at row {journal[5].pk}",
    ]
    assert "3 block(s)" in a2a("audit", "verify", "--head", head)


def test_without_a_recorded_head_the_newest_blocks_are_not_proven(a2a, journal, tmp_path):
    head, file = Seal.objects.latest("last_id").block.hash, tmp_path / "journal.jsonl"
    a2a("audit", "export", file)
    assert json.loads(a2a("audit", "verify", "--json"))["unproven"] == ""
    seals.head_file().unlink()
    Seal.objects.latest("last_id").delete()
    SealHead.objects.all().delete()
    with triggers_off():
        AuditEvent.objects.filter(pk__gte=journal[4].pk).delete()

    cut = a2a("audit", "verify").splitlines()

    assert cut[0] == "the journal is whole: 4 row(s) in 2 block(s) are as sealed"
    assert verification.UNPROVEN in cut
    assert json.loads(a2a("audit", "verify", "--json"))["unproven"] == verification.UNPROVEN
    with pytest.raises(CommandError, match="no block has the hash"):
        a2a("audit", "verify", "--head", head)
    assert verification.UNPROVEN in a2a("audit", "verify", "--file", file)
    assert verification.unproven(journal[5].pk) in a2a("audit", "verify", "--file", file, "--head", head)


def test_a_given_head_proves_no_block_after_its_own(a2a, journal, tmp_path):
    old, file = Seal.objects.earliest("last_id").block, tmp_path / "journal.jsonl"
    note = f"no head is recorded here: no block after row {old.last_id} is proven"
    assert note not in a2a("audit", "verify", "--head", old.hash)
    seals.head_file().unlink()
    assert note in a2a("audit", "verify", "--head", old.hash)
    Seal.objects.exclude(last_id=old.last_id).delete()
    SealHead.objects.all().delete()
    with triggers_off():
        AuditEvent.objects.filter(pk__gt=old.last_id).delete()
    a2a("audit", "export", file)

    cut = a2a("audit", "verify", "--head", old.hash).splitlines()

    assert cut[0] == "the journal is whole: 2 row(s) in 1 block(s) are as sealed"
    assert note in cut
    assert note in a2a("audit", "verify", "--file", file, "--head", old.hash)


def test_a_changed_row_is_named_and_fails_the_command(a2a, journal, capsys):
    with triggers_off():
        AuditEvent.objects.filter(pk=journal[2].pk).update(data="{}")
    place = f"row {journal[2].pk}, block of rows {journal[2].pk} to {journal[3].pk}"

    with pytest.raises(CommandError, match=f"the journal was changed: {place}: the row was changed"):
        a2a("audit", "verify")
    with pytest.raises(SystemExit) as ended:
        a2a("audit", "verify", "--json")

    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["finding"]["row"] == journal[2].pk
    assert "1 block(s)" in a2a("audit", "verify", "--to", journal[1].pk)
    assert "1 block(s)" in a2a("audit", "verify", "--from", journal[4].pk)


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "2", "--to", "1"),
        ("--file", "journal.jsonl", "--from", "2"),
        ("--file", "journal.jsonl", "--to", "1"),
        ("--key", "ab" * 32),
    ],
)
def test_options_that_would_check_nothing_are_refused(a2a, journal, words):
    with pytest.raises(CommandError, match=r"--(to|from|key)") as refused:
        a2a("audit", "verify", *words)

    assert refused.value.returncode == 2


def test_an_export_is_verified_without_the_hub(a2a, journal, tmp_path, settings):
    file = tmp_path / "journal.jsonl"
    head, key = Seal.objects.latest("last_id").block.hash, sealed.public_key(settings.A2A_SEAL_KEY)

    written = a2a("audit", "export", file)
    Seal.objects.all().delete()
    settings.A2A_SEAL_KEY = "ab" * 32

    assert written == f"wrote {file}: 7 row(s) in 3 block(s)"
    assert file.stat().st_mode & 0o077 == 0
    for more in ((), ("--key", key), ("--head", head)):
        assert a2a("audit", "verify", "--file", file, *more).splitlines()[0] == (
            "the journal is whole: 6 row(s) in 3 block(s) are as sealed"
        )
    with pytest.raises(CommandError, match="signed by an unknown key"):
        a2a("audit", "verify", "--file", file, "--key", "00" * 32)
    with pytest.raises(CommandError, match="no block has the hash"):
        a2a("audit", "verify", "--file", file, "--head", "00" * 32)


def _edited(lines):
    return [line.replace("agent3@local", "mallory@local") for line in lines]


CHANGES = {
    "a row edited": (_edited, "the row was changed"),
    "a row deleted": (lambda lines: [line for line in lines if "agent3@" not in line], "the row was deleted"),
    "rows swapped": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "not in order"),
    "a block deleted": (lambda lines: [*lines[:1], *lines[4:]], "the seal of these rows is missing"),
    "the end deleted": (lambda lines: lines[:-1], "cut off"),
    "cut in a block": (lambda lines: lines[:-4], "cut off"),
    "the mark of unsealed rows deleted": (lambda lines: [*lines[:-3], *lines[-2:]], "the row was inserted"),
    "an unsealed row deleted": (lambda lines: [*lines[:-2], lines[-1]], "does not hold as many rows"),
    "another header": (lambda lines: ["{}", *lines[1:]], "line 1"),
    "an empty file": (lambda lines: [], "line 1"),
    "a line that is no object": (lambda lines: [*lines[:2], "[]", *lines[3:]], "the row was deleted"),
    "a line that is no JSON": (lambda lines: [*lines[:2], "x", *lines[3:]], "line 3"),
    "a row without an id": (lambda lines: [*lines[:2], '{"row":{}}', *lines[3:]], "cannot be read"),
}


@pytest.mark.parametrize(("change", "problem"), CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_export_is_refused(a2a, journal, tmp_path, change, problem):
    file = tmp_path / "journal.jsonl"
    a2a("audit", "export", file)
    file.write_text("\n".join(change(file.read_text().splitlines())))

    with pytest.raises(CommandError, match=problem):
        a2a("audit", "verify", "--file", file)


def test_a_missing_file_is_an_error(a2a, tmp_path):
    with pytest.raises(CommandError, match="cannot read"):
        a2a("audit", "verify", "--file", tmp_path / "none")
