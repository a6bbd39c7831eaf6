"""``a2a doctor``. The finding of each check says what to do."""

import time
from collections.abc import Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import typer

import a2a_hub_client
from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import CommandError, Session, alone, command
from a2a_hub_client.cli.commands.login import owner
from a2a_hub_client.cli.contexts import ConfigError
from a2a_hub_client.cli.tables import single_line
from a2a_hub_client.errors import HubError

LONGEST_SKEW = 30.0  # seconds; the hub refuses signatures from clocks that are further off
WAIT = 50.0  # seconds of the longest request of this client
QUICK = 10.0  # seconds for a request that does not wait
LOOPBACK = "127.0.0.1", "::1", "localhost"
MARKS = {"ok": ("ok", "green"), "look": ("look", "yellow"), "bad": ("bad", "red")}


class Finding(NamedTuple):
    """The outcome of a check. ``look``: it works, and an operator should look at it."""

    check: str
    mark: Literal["ok", "look", "bad"]
    text: str


def check_config() -> Finding:
    """Check that the file of the contexts can be used, and that others cannot read it."""
    try:
        stored = contexts.load()
    except ConfigError as error:
        return Finding("config", "bad", str(error))
    if not stored.by_name:
        return Finding("config", "ok", f"no stored hub in {contexts.path()}; `a2a login` stores one")
    return Finding("config", "ok", f"{len(stored.by_name)} in {contexts.path()}, current: {stored.current or 'none'}")


def check_hub(session: Session) -> Finding:
    """Check that a hub and a key are named, and that the key's file can be read."""
    try:
        return Finding("hub", "ok", session.hub.url)
    except ConfigError as error:
        return Finding("hub", "bad", str(error))


def check_tls(url: str) -> Finding:
    """Check that keys do not cross a network in clear text."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return Finding("tls", "ok", "requests are encrypted")
    if parts.hostname in LOOPBACK:
        return Finding("tls", "ok", "not needed on this machine")
    return Finding("tls", "look", "keys cross the network in clear text: use an https:// URL")


def check_reached(url: str) -> list[Finding]:
    """Check that the hub answers, its clock and its version."""
    import httpx

    began = time.monotonic()
    try:
        health = httpx.get(f"{url.rstrip('/')}/healthz", timeout=QUICK)
        took = time.monotonic() - began
        card = httpx.get(f"{url.rstrip('/')}/.well-known/agent-card.json", timeout=QUICK)
    except httpx.HTTPError as error:
        what = "its certificate is not trusted" if "CERTIFICATE_VERIFY" in str(error) else str(error)
        return [Finding("reach", "bad", f"{url} does not answer: {what}. Is the hub running, and the URL right?")]
    if health.status_code != 200 or "json" not in health.headers.get("Content-Type", ""):
        return [Finding("reach", "bad", f"{url}/healthz answers {health.status_code}: is this the URL of a hub?")]
    return [
        Finding("reach", "ok", f"answered in {took * 1000:.0f} ms"),
        _clock(health.headers.get("Date")),
        _version(card),
    ]


def check_key(session: Session) -> Finding:
    """Check that the hub accepts the key, and tell its owner."""
    try:
        return Finding("key", "ok", f"of {owner(session.read('/a2a/me'))}")
    except HubError as error:
        return Finding("key", "bad", f"{error} `a2a login` stores another key.")


def check_rights(session: Session) -> Finding:
    """Tell what the owner of the key may do."""
    try:
        me = session.read("/a2a/me")
        if me["agent"] is None:
            return Finding("rights", "ok" if me["role"] else "look", me["role"] or "none: an admin gives a role")
        held = session.listed("/capabilities/recent", "capabilities", limit=1000)["capabilities"]
    except HubError as error:
        return Finding("rights", "bad", str(error))
    own = sorted({one["action"] for one in held if one["subject"] == me["agent"] and not one["revoked_at_ms"]})
    if not own:
        return Finding("rights", "look", "none: an operator gives some with `a2a grant give`")
    return Finding("rights", "ok", ", ".join(own))


def check_waits(session: Session) -> Finding:
    """Check that a request may take as long as those of workers. It waits for a task that is not resolved."""
    from a2a_hub_client import _calls

    try:
        queue = session.read("/a2a/queue", limit=1)["tasks"]
        if not queue:
            return Finding("waits", "look", "not checked: there is no unresolved task to wait for")
        began = time.monotonic()
        session.perform(_calls.result(queue[0]["task"]["id"], wait=WAIT))
    except HubError as error:
        return Finding(
            "waits", "bad", f"a request of {WAIT:.0f} s fails: {error}. Raise the proxy's read timeout to 75 s."
        )
    return Finding("waits", "ok", f"a request was held for {time.monotonic() - began:.0f} s")


def _clock(date: str | None) -> Finding:
    if date is None:
        return Finding("clock", "look", "not checked: the answer has no Date")
    ahead = (datetime.now(timezone.utc) - parsedate_to_datetime(date)).total_seconds()
    if abs(ahead) <= LONGEST_SKEW:
        return Finding("clock", "ok", "as the hub's")
    which = "ahead of" if ahead > 0 else "behind"
    return Finding("clock", "bad", f"{abs(ahead):.0f} s {which} the hub's: set it, for example with NTP")


def _version(card: Any) -> Finding:
    own = a2a_hub_client.__version__
    try:
        version = str(card.json()["version"])
    except (ValueError, KeyError, TypeError):
        return Finding("version", "look", f"this client is {own}; the hub does not tell its version")
    is_same = version.split(".")[0] == own.split(".")[0]
    text = f"hub {version}, client {own}"
    return Finding("version", "ok" if is_same else "look", text if is_same else f"{text}: upgrade the older one")


doctor_app = alone()


@command(doctor_app)
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
                f"{typer.style(word.ljust(4), fg=colour)}  {finding.check.ljust(8)}  {single_line(finding.text)}"
            )
    if not session.printer.is_for_people:
        session.printer.document({"findings": findings})
    if bad := sum(finding["mark"] == "bad" for finding in findings):
        raise CommandError(f"{bad} of {len(findings)} checks are bad")


def _findings(session: Session, *, waits: bool) -> Iterator[Finding]:
    """Yield the findings. A check whose ground is missing is left out."""
    stored = check_config()
    yield stored
    if stored.mark == "bad":
        return
    named = check_hub(session)
    yield named
    if named.mark == "bad":
        return
    yield check_tls(session.context.url)
    reached = check_reached(session.context.url)
    yield from reached
    if any(finding.mark == "bad" for finding in reached):
        return
    owned = check_key(session)
    yield owned
    if owned.mark != "bad":
        yield check_rights(session)
        yield (
            check_waits(session) if waits else Finding("waits", "ok", "not checked; --waits holds a request for 50 s")
        )
