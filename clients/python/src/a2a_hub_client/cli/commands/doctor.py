"""``a2a doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from a2a_hub_client.cli import checks
from a2a_hub_client.cli.checks import Finding
from a2a_hub_client.cli.command import alone, command
from a2a_hub_client.cli.failures import CommandError
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import on_one_line

MARKS = {"ok": ("ok", "green"), "look": ("look", "yellow"), "bad": ("bad", "red")}

app = alone()


@command(app)
def doctor(
    session: Session,
    waits: Annotated[
        bool, typer.Option("--waits", help="Also hold a request for 50 s, as workers do: a proxy may cut it.")
    ] = False,
) -> None:
    """Check the way to the hub, the clock and the key. Each line says what to do. Exits with 1 if a check is bad."""
    findings: list[dict[str, Any]] = []
    for finding in _findings(session, waits=waits):
        findings.append({"check": finding.check, "mark": finding.mark, "text": finding.text})
        if session.printer.is_for_people:
            word, colour = MARKS[finding.mark]
            typer.echo(
                f"{typer.style(word.ljust(4), fg=colour)}  {finding.check.ljust(8)}  {on_one_line(finding.text)}"
            )
    if not session.printer.is_for_people:
        session.printer.document({"findings": findings})
    if bad := sum(finding["mark"] == "bad" for finding in findings):
        raise CommandError(f"{bad} of {len(findings)} checks are bad")


def _findings(session: Session, *, waits: bool) -> Iterator[Finding]:
    """Yield the findings. A check whose ground is missing is left out."""
    stored = checks.config()
    yield stored
    if stored.mark == "bad":
        return
    named = checks.hub(session)
    yield named
    if named.mark == "bad":
        return
    yield checks.tls(session.context.url)
    reached = checks.reached(session.context.url)
    yield from reached
    if any(finding.mark == "bad" for finding in reached):
        return
    owned = checks.key(session)
    yield owned
    if owned.mark != "bad":
        yield checks.rights(session)
        yield (
            checks.waits(session) if waits else Finding("waits", "ok", "not checked; --waits holds a request for 50 s")
        )
