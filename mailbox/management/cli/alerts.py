"""``alerts test``: a test alert to the webhook and the mail addresses of the settings."""

from __future__ import annotations

from argparse import Namespace

from django.core.management.base import CommandError

from mailbox.access.callers import Caller
from mailbox.management.cli import arguments, output


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("alerts", help="test the channels of the alerts")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    test = verbs.add_parser(
        "test",
        help="send a test alert to every channel",
        description="Sends a test alert to A2A_ALERT_URL and A2A_ALERT_MAIL. Exits with 1 if a channel refuses it.",
    )
    arguments.add_json(test)
    test.set_defaults(run=_test)


def _test(options: Namespace) -> str:
    from mailbox.upkeep import alerts

    if not alerts.channels():
        raise CommandError("No channel is set: set A2A_ALERT_URL, or A2A_ALERT_MAIL and EMAIL_URL.")
    try:
        sent = alerts.send_test(Caller.command_line())
    except alerts.AlertError as error:
        raise CommandError(f"The test alert failed. {error}") from error
    return output.as_json({"kind": "a2a_test_alert", "to": sent}) if options.json else f"sent to {', '.join(sent)}"
