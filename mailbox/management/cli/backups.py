"""``backup``, ``restore``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from mailbox.access.callers import Caller
from mailbox.database.backups import archive
from mailbox.management.cli import arguments, output
from mailbox.upkeep import backups
from mailbox.upkeep.backups import Restored


def add_commands(commands: arguments.Commands) -> None:
    backup = commands.add_parser("backup", help="write the database and the hub's secret to one file; the hub may run")
    backup.add_argument("file", type=Path, metavar="FILE", help="the backup; it holds secrets, so keep it private")
    backup.add_argument("--force", action="store_true", help="replace an earlier file of this name")
    arguments.add_json(backup)
    backup.set_defaults(run=_backup)

    restore = commands.add_parser(
        "restore", help="replace database and secret by those of a backup; stop the hub first"
    )
    restore.add_argument("file", type=Path, metavar="FILE", help="the file that `backup` wrote")
    restore.add_argument(
        "--replace", action="store_true", help="replace a database with tasks; it is kept under a new name"
    )
    arguments.add_json(restore)
    # The checks open the database, which need not exist yet, or may be damaged.
    restore.set_defaults(run=_restore, skip_checks=True)


def _backup(options: Namespace) -> str:
    made = backups.back_up(Caller.command_line(), options.file, replaces=options.force)
    if options.json:
        written = {"file": str(made.file.absolute()), "bytes": made.size, "manifest": made.manifest.as_json()}
        return output.as_json({"kind": "a2a_backup", **written})
    secret = "with the secret" if made.manifest.has_secret else "without the secret: keep SECRET_KEY of the environment"
    return f"wrote {made.file}: {made.size} bytes, {archive.totals(made.manifest.rows)}, {secret}"


def _restore(options: Namespace) -> str:
    done = backups.restore(Caller.command_line(), options.file, replaces=options.replace)
    if options.json:
        return output.as_json(
            {
                "kind": "a2a_restored",
                "file": str(options.file.absolute()),
                "kept": done.kept,
                "kept_secret": str(done.kept_secret) if done.kept_secret else None,
                "kept_seal_key": str(done.kept_seal_key) if done.kept_seal_key else None,
                "journal_problem": done.journal_problem,
                "secret_differs": done.secret_differs,
                "migrated": done.migrated,
                "manifest": done.manifest.as_json(),
            }
        )
    return "\n".join(_lines(done))


def _lines(done: Restored) -> Iterator[str]:
    yield f"restored the hub as of {done.manifest.made_at}: {archive.totals(done.manifest.rows)}"
    if done.migrated:
        yield f"applied {done.migrated} migrations that the backup lacked"
    if done.kept is not None:
        yield f"the earlier database is kept as {done.kept}"
    if done.kept_secret is not None:
        yield f"the earlier secret is kept as {done.kept_secret}"
    if done.kept_seal_key is not None:
        yield f"the earlier seal key is kept as {done.kept_seal_key}"
    if done.journal_problem:
        yield f"WARNING: the journal of the backup is not as it was sealed: {done.journal_problem}."
    if done.secret_differs:
        yield (
            "WARNING: the hub's secret is not that of the backup. The secrets of callbacks cannot be opened. "
            "Set SECRET_KEY to the value of the hub that was backed up."
        )
