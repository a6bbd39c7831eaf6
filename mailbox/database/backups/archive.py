"""The file of a backup: a ZIP archive of the database, perhaps the hub's secret and its seal key, and a manifest.

The manifest is the last member, and lists the size and SHA-256 of each other member.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings

from mailbox.database.backups import files

FORMAT = 1
MANIFEST, SECRET, SEAL_KEY = "manifest.json", "secret_key", "seal_key"
DATABASE = {"sqlite": "hub.sqlite3", "postgresql": "hub.dump"}
CHUNK = 1024 * 1024
ENCRYPTED = b"a2a-hub backup, encrypted 1\n"  # begins an encrypted file; before the salt of its passphrase
SALT, TAG = 16, 16  # bytes
COST = 2**17  # of Scrypt, which then takes 128 MiB
FAST = 1  # zlib's level: the disk is slower than this
SQLITE_FILE, POSTGRESQL_DUMP = b"SQLite format 3\0", b"PGDMP"
_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of a backup.

    ``made_at`` is the time of the backup in ISO 8601. ``engine`` is sqlite or postgresql. ``schema`` is PostgreSQL's
    schema, "" for SQLite. ``migrations`` lists the applied migrations as app.name. ``rows`` counts the rows of the
    main tables. ``secret_digest`` is the keyed digest of the hub's secret. ``has_secret`` says whether the archive has
    the secret, and ``has_seal_key`` the same of the seal key. ``seal_keys`` are the public keys whose seals are right.
    ``head`` is the hash of the newest sealed block. Both are empty in earlier backups. ``members`` holds the bytes and
    SHA-256 of each file in the archive.
    """

    format: int
    made_at: str
    hub_version: str
    engine: str
    engine_version: str
    schema: str
    migrations: list[str]
    rows: dict[str, int]
    secret_digest: str
    has_secret: bool
    has_seal_key: bool = False
    head: str = ""
    seal_keys: list[str] = field(default_factory=list)
    members: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def read(cls, text: bytes) -> Manifest:
        """Return the manifest in ``text``. Raises `BackupError` for another format, ValueError for other text."""
        fields = orjson.loads(text)
        if not isinstance(fields, dict):
            raise ValueError("the manifest is not an object")
        if fields.get("format") != FORMAT:
            raise files.BackupError(
                f"The backup has format {fields.get('format')}, and this version reads format {FORMAT}. "
                "Restore it with the version of the hub that made it or a newer version."
            )
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(str(error)) from error


class Writer:
    """Writes the members of a new archive, and its manifest last."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._zip = archive
        self.members: dict[str, dict[str, Any]] = {}

    @classmethod
    @contextlib.contextmanager
    def on(cls, stream: BinaryIO, passphrase: str = "") -> Iterator[Writer]:
        """Write to ``stream``, encrypted under ``passphrase`` unless that is ""."""
        encrypting = _Encrypting(stream, passphrase) if passphrase else None
        with zipfile.ZipFile(encrypting or stream, "w", allowZip64=True) as archive:
            yield cls(archive)
        if encrypting:
            encrypting.finish()

    def put(self, name: str, chunks: Iterable[bytes], *, packed: bool = True) -> None:
        """Write one member. ``packed`` is off for data that is compressed already."""
        info = zipfile.ZipInfo(name)
        info.external_attr = files.PRIVATE << 16
        info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        info._compresslevel = FAST  # type: ignore[attr-defined]  # ZipFile.open() takes no level
        digest, size = hashlib.sha256(), 0
        with self._zip.open(info, "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self.members[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def finish(self, manifest: Manifest) -> None:
        self._zip.writestr(MANIFEST, orjson.dumps(manifest.as_json(), option=orjson.OPT_INDENT_2))


class Reader:
    """Reads the members of an archive, each against its checksum."""

    def __init__(self, opened: zipfile.ZipFile, file: Path) -> None:
        """Read the manifest. Raises `BackupError` if this version cannot read it, or if a member is missing."""
        self._zip, self._file = opened, file
        with self._damage():
            self.manifest = Manifest.read(opened.read(MANIFEST))
        keys = {SECRET: self.manifest.has_secret, SEAL_KEY: self.manifest.has_seal_key}
        wanted = {DATABASE.get(self.manifest.engine, ""), *(name for name, is_there in keys.items() if is_there)}
        if not wanted <= set(self.manifest.members) & set(opened.namelist()):
            raise self._damaged("a part is missing")

    def extract(self, name: str, target: Path) -> None:
        """Write a member to the file ``target``. Raises `BackupError` if it is not as it was written."""
        with target.open("wb") as stream:
            for chunk in self._chunks(name):
                stream.write(chunk)

    def text(self, name: str) -> str:
        """Return a small member. Raises `BackupError` if it is not as it was written."""
        return b"".join(self._chunks(name)).decode("ascii")

    def _chunks(self, name: str) -> Iterator[bytes]:
        digest, size = hashlib.sha256(), 0
        with self._damage(), self._zip.open(name) as member:
            while chunk := member.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                yield chunk
        if self.manifest.members[name] != {"bytes": size, "sha256": digest.hexdigest()}:
            raise self._damaged(f"the checksum of {name} is wrong")

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (*_ERRORS, KeyError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, problem: str) -> files.BackupError:
        return files.BackupError(f"{self._file} is damaged: {problem}. Nothing was changed.")


class _Encrypting(io.RawIOBase):
    """Encrypts what is written in chunks. The nonce of each has its number, and whether it is the last."""

    def __init__(self, stream: BinaryIO, passphrase: str) -> None:
        salt = os.urandom(SALT)
        stream.write(ENCRYPTED + salt)
        self._stream, self._cipher, self._waiting, self._number = stream, _cipher(passphrase, salt), bytearray(), 0

    def write(self, content: Any) -> int:
        self._waiting += content
        while len(self._waiting) > CHUNK:
            self._put(is_last=False)
        return len(content)

    def finish(self) -> None:
        self._put(is_last=True)

    def _put(self, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._stream.write(self._cipher.encrypt(nonce, bytes(self._waiting[:CHUNK]), ENCRYPTED))
        del self._waiting[:CHUNK]
        self._number += 1


def _decrypt(source: BinaryIO, target: IO[bytes], passphrase: str) -> None:
    """Decrypt what follows the mark. Raises InvalidTag for another passphrase, and for a changed or cut file."""
    cipher = _cipher(passphrase, source.read(SALT))
    chunk, number = source.read(CHUNK + TAG), 0
    while following := source.read(CHUNK + TAG):
        target.write(cipher.decrypt(_nonce(number, is_last=False), chunk, ENCRYPTED))
        chunk, number = following, number + 1
    target.write(cipher.decrypt(_nonce(number, is_last=True), chunk, ENCRYPTED))


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    return AESGCM(Scrypt(salt=salt, length=32, n=COST, r=8, p=1).derive(passphrase.encode()))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


@contextlib.contextmanager
def _readable(file: Path, passphrase: str) -> Iterator[IO[bytes]]:
    """Open the file, decrypted if it is encrypted. The decrypted copy has no name, so a killed process leaves none."""
    with file.open("rb") as stream:
        is_encrypted = stream.read(len(ENCRYPTED)) == ENCRYPTED
        if is_encrypted != bool(passphrase):
            problem = "encrypted: give its passphrase" if is_encrypted else "not encrypted: give no passphrase"
            raise files.BackupError(f"{file} is {problem} by --passphrase-file. Nothing was changed.")
        if not is_encrypted:
            stream.seek(0)
            yield stream
            return
        folder = Path(settings.A2A_VAR)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as decrypted:
            try:
                _decrypt(stream, decrypted, passphrase)
            except InvalidTag as error:
                problem = f"The passphrase is wrong, or {file} is damaged or cut off. Nothing was changed."
                raise files.BackupError(problem) from error
            decrypted.seek(0)
            yield decrypted


@contextlib.contextmanager
def opened(file: Path, passphrase: str = "") -> Iterator[Reader]:
    """Open a backup to read. Raises `BackupError` if the file is not a whole backup, and for a wrong passphrase."""
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(_readable(file, passphrase))
        except OSError as error:
            raise files.BackupError(f"cannot read {file}: {error.strerror}") from error
        start = stream.read(len(SQLITE_FILE))
        if (problem := _foreign(start)) is not None:
            raise files.BackupError(f"{file} is {problem}")
        try:
            archive = zipfile.ZipFile(stream)
        except _ERRORS as error:
            raise files.BackupError(
                f"{file} is no backup of a hub, or its end is cut off. `manage.py a2a backup` makes backups."
            ) from error
        with archive:
            yield Reader(archive, file)


def _foreign(start: bytes) -> str | None:
    if start == SQLITE_FILE:
        return (
            "a copied SQLite database, not a backup. A copy of a running hub's file may be torn. "
            "`manage.py a2a backup` makes backups."
        )
    if start.startswith(POSTGRESQL_DUMP):
        return "a dump of pg_dump, not a backup of `manage.py a2a backup`. Restore it with pg_restore."
    return None


def chunks_of(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def totals(rows: Mapping[str, int]) -> str:
    """Return row counts in words."""
    return ", ".join(f"{count} {name}" for name, count in rows.items())
