"""The commands about the whole hub: ``backup``, ``restore``, ``erase``, ``secrets rotate`` and ``alerts test``."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from django.core.management.base import CommandError

from agentcards import secrets
from mailbox.access.callers import Caller
from mailbox.database import old_bytes
from mailbox.database.backups import archive
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import argument, command
from mailbox.upkeep import backups, erasure
from mailbox.upkeep.backups import Restored


def add_commands(commands: arguments.Commands) -> None:
    command(
        commands,
        "backup",
        _backup,
        argument("file", type=Path, metavar="FILE", help="the backup; keep it private"),
        argument("--force", action="store_true", help="replace an earlier file of this name"),
        argument("--passphrase-file", type=Path, metavar="FILE", help="encrypt the backup under the text of this file"),
        arguments.either(
            argument("--without-secrets", action="store_true", help="leave out the hub's secret"),
            argument("--with-seal-key", action="store_true", help="also write the key that signs the journal"),
        ),
        help="write the database and the hub's secret to one file; the hub may run",
        description="The hub's secret opens the secrets of callbacks, and signs sessions. Without the seal key a "
        "restored hub signs by a new one, and still trusts the earlier seals.",
    )
    restore = command(
        commands,
        "restore",
        _restore,
        argument("file", type=Path, metavar="FILE", help="the file that `backup` wrote"),
        argument("--replace", action="store_true", help="replace a database with tasks; it is kept under a new name"),
        argument("--passphrase-file", type=Path, metavar="FILE", help="the passphrase of an encrypted backup"),
        help="replace database and secret by those of a backup; stop the hub first",
    )
    # The checks open the database, which need not exist yet, or may be damaged.
    restore.set_defaults(skip_checks=True)
    subject = arguments.either(
        arguments.identity("--task", metavar="ID", help="the task"),
        argument("--agent", metavar="NAME", help="the agent that sent or received the tasks"),
        required=True,
    )
    command(
        commands,
        "erase",
        _erase,
        subject,
        argument("--reason", required=True, metavar="TEXT", help="why; the journal records it"),
        help="blank the payload of a finished task, or of all tasks of an agent; only hashes stay",
        description="Names stay, and so do backups. A task that has not finished is refused.",
    )
    command(
        arguments.group(commands, "secrets", "encrypt the stored secrets under a new SECRET_KEY"),
        "rotate",
        _rotate_secret,
        help="encrypt each stored secret again, under the newest SECRET_KEY; can be repeated",
        description="Encrypts the secrets of callbacks and the URLs of remote agents again. SECRET_KEY is the new "
        "secret, and SECRET_KEY_FALLBACKS or the file secret_key_fallbacks has the earlier secrets.",
    )
    command(
        arguments.group(commands, "alerts", "test the channels of the alerts"),
        "test",
        _test,
        help="send a test alert to every channel",
        description="Sends a test alert to A2A_ALERT_URL and A2A_ALERT_MAIL. Exits with 1 if a channel refuses it.",
    )


def _backup(options: Namespace) -> str:
    made = backups.back_up(
        Caller.command_line(),
        options.file,
        replaces=options.force,
        with_secret=not options.without_secrets,
        with_seal_key=options.with_seal_key,
        passphrase=_passphrase(options),
    )
    written = {"file": str(made.file.absolute()), "bytes": made.size, "manifest": made.manifest.as_json()}
    secret = "with the secret" if made.manifest.has_secret else "without the secret: keep SECRET_KEY elsewhere"
    text = f"wrote {made.file}: {made.size} bytes, {archive.totals(made.manifest.rows)}, {secret}"
    return output.answer(options, {"kind": "a2a_backup", **written}, text)


def _passphrase(options: Namespace) -> str:
    """Return the passphrase of the file that the command names; "" without one."""
    if options.passphrase_file is None:
        return ""
    try:
        text: str = options.passphrase_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--passphrase-file cannot be read: {error}") from error
    if not text:
        raise CommandError("--passphrase-file is empty.")
    return text


def _restore(options: Namespace) -> str:
    done = backups.restore(
        Caller.command_line(), options.file, replaces=options.replace, passphrase=_passphrase(options)
    )
    shown = {
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
    return output.answer(options, shown, "\n".join(_lines(done)))


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


def _test(options: Namespace) -> str:
    from mailbox.upkeep import alerts

    if not alerts.channels():
        raise CommandError("No channel is set: set A2A_ALERT_URL, or A2A_ALERT_MAIL and EMAIL_URL.")
    try:
        sent = alerts.send_test(Caller.command_line())
    except alerts.AlertError as error:
        raise CommandError(f"The test alert failed. {error}") from error
    return output.answer(options, {"kind": "a2a_test_alert", "to": sent}, f"sent to {', '.join(sent)}")


def _rotate_secret(options: Namespace) -> str:
    done = secrets.reseal(Caller.command_line())
    shown = {"kind": "a2a_secrets_rotated", "resealed": done.resealed, "unreadable": done.unreadable}
    lines = [f"encrypted {done.resealed} secret(s) again"]
    if done.unreadable:
        lines.append(f"{done.unreadable} cannot be read: SECRET_KEY_FALLBACKS lacks their secret")
    return output.answer(options, shown, "\n".join(lines))


def _erase(options: Namespace) -> str:
    caller = Caller.command_line()
    if options.task is not None:
        erased = dict(erasure.erase_task(caller, options.task, reason=options.reason))
    else:
        agent = arguments.agent(options.agent)
        erased = dict(erasure.erase_agent(caller, agent, reason=options.reason))
        erased |= secrets.erase_cards(caller, agent, reason=options.reason)
    if not old_bytes.forget():
        held = "A long read keeps the old bytes in SQLite's write-ahead log. Run the command again when it has ended."
        raise CommandError(f"The payload is blank. {held}")
    counts = [f"{count} {name}" for name, count in erased.items() if count]
    text = f"erased {', '.join(counts)}" if counts else "nothing was left to erase"
    return output.answer(options, {"kind": "a2a_erasure", "erased": erased}, text)
