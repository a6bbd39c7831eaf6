"""The file of a backup is read whole and unchanged, or refused with a reason."""

import contextlib
import fcntl
import sqlite3
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mailbox.database.backups import archive, files, postgresql, sqlite
from mailbox.database.backups.archive import Manifest, Writer
from mailbox.database.backups.files import BackupError
from tests.support.pauses import Clock

pytestmark = pytest.mark.one_database

CONTENT = bytes(range(256)) * 40


def manifest(**more: object) -> Manifest:
    usual = {
        "format": archive.FORMAT,
        "made_at": "2030-01-31T12:00:00+00:00",
        "hub_version": "1",
        "engine": "sqlite",
        "engine_version": "SQLite 3",
        "schema": "",
        "migrations": [],
        "rows": {"tasks": 0},
        "secret_digest": "0",
        "has_secret": True,
    }
    return Manifest(**usual | more)  # type: ignore[arg-type]


def written(file: Path, passphrase: str = "", /, **more: object) -> Path:
    with files.appearing(file) as stream, Writer.on(stream, passphrase) as writer:
        writer.put(archive.SECRET, [b"secret"])
        writer.put("hub.sqlite3", [CONTENT], packed=False)
        writer.finish(manifest(**{"members": writer.members} | more))
    return file


def refusal(file: Path, passphrase: str = "") -> str:
    """Return why the file is refused when it is read whole."""
    with pytest.raises(BackupError) as refused:
        read(file, passphrase)
    return refused.value.message


def read(file: Path, passphrase: str = "") -> None:
    with archive.opened(file, passphrase) as backup:
        backup.text(archive.SECRET)
        backup.extract("hub.sqlite3", file.with_name("extracted"))


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    return written(tmp_path / "backup")


def test_a_backup_gives_back_what_was_put_into_it(backup: Path) -> None:
    with archive.opened(backup) as opened:
        opened.extract("hub.sqlite3", backup.with_name("extracted"))

        assert opened.text(archive.SECRET) == "secret"
        assert opened.manifest.rows == {"tasks": 0}
    assert backup.with_name("extracted").read_bytes() == CONTENT


@pytest.fixture
def encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a backup that is encrypted in small chunks, under a key that takes no time to derive."""
    monkeypatch.setattr(archive, "CHUNK", 1000)
    monkeypatch.setattr(archive, "COST", 2)
    return written(tmp_path / "encrypted", "correct horse")


def test_an_encrypted_backup_is_read_by_its_passphrase_alone(encrypted: Path, backup: Path) -> None:
    read(encrypted, "correct horse")

    assert encrypted.with_name("extracted").read_bytes() == CONTENT
    assert archive.SECRET.encode() not in encrypted.read_bytes()
    assert "is encrypted: give its passphrase" in refusal(encrypted)
    assert "The passphrase is wrong" in refusal(encrypted, "correct house")
    assert "is not encrypted" in refusal(backup, "correct horse")


def test_an_encrypted_backup_that_was_changed_is_refused(encrypted: Path) -> None:
    whole, start, chunk = encrypted.read_bytes(), len(archive.ENCRYPTED) + archive.SALT, 1000 + archive.TAG
    chunks = [whole[at : at + chunk] for at in range(start, len(whole), chunk)]
    assert len(chunks) > 8

    changed = {
        "a byte": whole[: start + 7] + bytes([whole[start + 7] ^ 1]) + whole[start + 8 :],
        "the salt": whole[: start - 1] + bytes([whole[start - 1] ^ 1]) + whole[start:],
        "the order": whole[:start] + b"".join([chunks[1], chunks[0], *chunks[2:]]),
        "a chunk left out": whole[:start] + b"".join([chunks[0], *chunks[2:]]),
        "cut between chunks": whole[:start] + b"".join(chunks[:-1]),
        "cut within a chunk": whole[:-1],
        "no chunk": whole[:start],
        "more": whole + chunks[-1],
    }
    for what, content in changed.items():
        encrypted.write_bytes(content)
        assert "The passphrase is wrong" in refusal(encrypted, "correct horse"), what


def test_a_cut_file_is_refused(backup: Path) -> None:
    backup.write_bytes(backup.read_bytes()[:-30])

    assert "its end is cut off" in refusal(backup)


def test_every_changed_byte_of_the_database_is_noticed(backup: Path) -> None:
    whole = backup.read_bytes()
    at = whole.index(CONTENT) + 77
    backup.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])

    assert "damaged" in refusal(backup)


def test_a_database_that_is_not_that_of_the_manifest_is_refused(tmp_path: Path) -> None:
    members = {name: {"bytes": 6, "sha256": "0"} for name in (archive.SECRET, "hub.sqlite3")}

    assert "checksum" in refusal(written(tmp_path / "backup", members=members))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"SQLite format 3\0 and pages", "a copied SQLite database"),
        (b"PGDMP and more", "a dump of pg_dump"),
        (b"", "no backup of a hub"),
        (b"any other text", "no backup of a hub"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    other = tmp_path / "other"
    other.write_bytes(content)

    assert reason in refusal(other)


def test_another_zip_file_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other", "w") as other:
        other.writestr("a", "b")

    assert "damaged" in refusal(tmp_path / "other")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "missing")


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"format": 2}, "format 2"), ({"members": {}}, "a part is missing"), ({"engine": "x"}, "a part is missing")],
)
def test_manifests_that_do_not_fit_are_refused(tmp_path: Path, more: dict[str, object], reason: str) -> None:
    assert reason in refusal(written(tmp_path / "backup", **more))


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with contextlib.suppress(RuntimeError), files.appearing(tmp_path / "file") as stream:
        stream.write(b"half")
        raise RuntimeError

    assert list(tmp_path.iterdir()) == []


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    with files.appearing(tmp_path / "file") as stream:
        stream.write(b"first")
        with pytest.raises(BackupError, match="Another process"), files.appearing(tmp_path / "file"):
            pass

    assert (tmp_path / "file").read_bytes() == b"first"


def test_a_file_that_another_process_has_just_finished_is_not_written_over(tmp_path, monkeypatch):
    """The other process gives its file the name between the open and the lock of this process."""
    file, lock = tmp_path / "file", fcntl.flock

    def finish_first(*given: Any) -> None:
        (tmp_path / "file.partial").write_bytes(b"first")
        files.rename(tmp_path / "file.partial", file)
        lock(*given)

    monkeypatch.setattr(fcntl, "flock", finish_first)

    with pytest.raises(BackupError, match="Another process"), files.appearing(file):
        pass

    assert file.read_bytes() == b"first"


def test_an_open_database_is_not_replaced(tmp_path: Path) -> None:
    hub = tmp_path / "hub.sqlite3"
    with contextlib.closing(sqlite3.connect(hub)) as running:
        running.execute("PRAGMA journal_mode=WAL")
        running.execute("CREATE TABLE a (b)")

        with pytest.raises(BackupError, match="Another process uses"), sqlite.held(hub):
            pass

    with sqlite.held(hub) as held:
        assert held.content is None


@pytest.mark.parametrize("length", [0, 100, 5000])
def test_a_cut_database_can_be_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, length: int) -> None:
    monkeypatch.setattr(sqlite, "time", Clock())
    hub, draft = tmp_path / "hub.sqlite3", tmp_path / "draft"
    for path in (hub, draft):
        with contextlib.closing(sqlite3.connect(path)) as made:
            made.execute("CREATE TABLE mailbox_task (uuid)")
            made.execute("INSERT INTO mailbox_task VALUES (1)")
            made.commit()
    hub.write_bytes(hub.read_bytes()[:length])

    with sqlite.held(hub) as held:
        is_damaged = held.content is not None
        kept = held.replace_by(draft, tmp_path / "kept")

    assert (is_damaged, kept is not None) == (length > 0, length > 0)
    with contextlib.closing(sqlite3.connect(hub)) as opened:
        assert opened.execute("SELECT uuid FROM mailbox_task").fetchall() == [(1,)]
    sqlite.check(hub)


def test_a_row_without_the_row_that_it_refers_to_is_noticed(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "hub")) as made:
        made.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, b REFERENCES a)")
        made.execute("INSERT INTO a VALUES (1, 2)")
        made.commit()

    with pytest.raises(BackupError, match="1 rows refer to rows that do not exist"):
        sqlite.check(tmp_path / "hub")


def test_a_copy_keeps_no_byte_of_a_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub, copy = tmp_path / "hub", tmp_path / "copy"
    keys = [f"key-{number:x}-of-a-session" for number in range(500)]
    with contextlib.closing(sqlite3.connect(hub)) as made:
        made.execute("CREATE TABLE django_session (session_key PRIMARY KEY, session_data)")
        made.executemany("INSERT INTO django_session VALUES (?, ?)", [(key, key * 9) for key in keys])
        made.commit()
    monkeypatch.setattr(sqlite, "file", lambda: hub)
    monkeypatch.setattr(sqlite, "time", Clock())

    sqlite.copy_to(copy)

    sqlite.check(copy)
    assert [key for key in keys if key.encode() in copy.read_bytes()] == []
    assert [key for key in keys if key.encode() not in hub.read_bytes()] == []


def test_pg_dump_leaves_out_the_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    info = SimpleNamespace(server_version=170_000, get_parameters=dict)
    session = SimpleNamespace(cursor=lambda: SimpleNamespace(connection=SimpleNamespace(info=info)))
    monkeypatch.setattr(postgresql, "connection", session)
    monkeypatch.setattr(postgresql, "schema", lambda: "hub")
    monkeypatch.setattr("shutil.which", lambda _: None)

    with pytest.raises(BackupError) as missing:
        postgresql.require_dumper()

    assert """'--schema="hub"' '--exclude-table-data="hub".django_session'""" in missing.value.message


@pytest.mark.parametrize("begins", [postgresql.require_dumper, postgresql.require_alone])
def test_a_pooler_s_sessions_are_left_as_they_are(settings, begins):
    settings.DATABASE_POOLED = True

    with pytest.raises(files.BackupError, match="unset DATABASE_POOLER, for this command"):
        begins()
