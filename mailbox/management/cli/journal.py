"""``audit verify``, ``audit export``."""

import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from mailbox.database.backups import files
from mailbox.dialects.covenant import journal_wire
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import WRONG_USAGE, argument, command
from mailbox.upkeep import journal_export, verification
from mailbox.upkeep.verification import Verification
from mailbox.words.errors import MailboxError


class JournalChangedError(MailboxError):
    """The journal is not as it was sealed."""

    code = "journal_changed"


class _File(Action):
    """Reads a file instead of the database, which then need not exist."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: str | Sequence[Any] | None, *_: object
    ) -> None:
        namespace.file, namespace.skip_checks = values, True


def add_commands(commands: arguments.Commands) -> None:
    verbs = arguments.group(commands, "audit", "verify the sealed journal, and export it to a file")
    row = arguments.integer("a row", least=1)
    command(
        verbs,
        "verify",
        _verify,
        argument("--from", dest="first", type=row, default=1, metavar="ROW", help="begin at this row's block"),
        argument("--to", dest="last", type=row, metavar="ROW", help="end at this row's block"),
        argument("--head", default="", metavar="HASH", help="a head recorded elsewhere, which must be there"),
        argument("--file", type=Path, action=_File, metavar="FILE", help="check an exported journal instead"),
        argument("--key", default="", metavar="HEX", help="with --file: the public key that must have signed"),
        help="check that no sealed row of the journal was changed; exit with 1 if one was",
        description="The command names the first wrong block and row. The newest rows are not sealed yet.",
    )
    file = argument("file", type=Path, metavar="FILE", help="the new file; an earlier one is replaced")
    what = "write rows, seals and public key as JSON lines to a private file"
    command(verbs, "export", _export, file, help=what)


def _verify(options: Namespace) -> str:
    if options.last is not None and options.last < options.first:
        raise CommandError("--to must not be before --from", returncode=WRONG_USAGE)
    if options.file and (options.first > 1 or options.last is not None):
        raise CommandError("--from and --to do not go with --file, which is checked whole", returncode=WRONG_USAGE)
    if options.key and not options.file:
        raise CommandError("--key goes with --file alone", returncode=WRONG_USAGE)
    try:
        result = (
            journal_export.verify(options.file, key=options.key, head=options.head)
            if options.file
            else verification.verify(first=options.first, last=options.last, head=options.head)
        )
    except OSError as error:
        raise MailboxError(f"cannot read {options.file}: {error.strerror}") from error
    if options.json:
        line = output.as_json(journal_wire.verification(result))
        if result.finding is None:
            return line
        sys.stdout.write(f"{line}\n")
        raise SystemExit(1)
    if result.finding is not None:
        raise JournalChangedError(f"the journal was changed: {result.finding.sentence}")
    return _sentence(result)


def _sentence(result: Verification) -> str:
    erased = f", of which {len(result.erased)} were erased" if result.erased else ""
    lines = [f"the journal is whole: {result.rows} row(s) in {result.blocks} block(s) are as sealed{erased}"]
    if result.unsealed:
        lines.append(f"{result.unsealed} newest row(s) are not sealed yet")
    if result.unproven:
        lines.append(result.unproven)
    if result.head is not None:
        lines.append(f"head {result.head.hash} at row {result.head.last_id}")
    return "\n".join(lines)


def _export(options: Namespace) -> str:
    try:
        with files.appearing(options.file) as stream:
            made = journal_export.write(stream)
    except OSError as error:
        raise MailboxError(f"cannot write {options.file}: {error.strerror}") from error
    written = {"file": str(options.file.absolute()), "rows": made.rows, "blocks": made.blocks}
    shown = {"kind": "audit_export", **written, "head": made.head and made.head.hash}
    return output.answer(options, shown, f"wrote {options.file}: {made.rows} row(s) in {made.blocks} block(s)")
