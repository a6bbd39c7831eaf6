"""Alerts: decisions that wait too long for a person are reported to a webhook and by mail.

A webhook gets the JSON of the hub, or the text of Slack and its likes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.database import write_turns
from mailbox.journal import hub_entries
from mailbox.models import Alert
from mailbox.words import json_text, times
from mailbox.words.errors import MailboxError

ENDED_AFTER = timedelta(minutes=3)  # without a pass that noted it, so that a flickering decision is one alert
TRIED_AGAIN_AFTER = timedelta(minutes=2)  # also when the process that reports is killed
WITHIN = 10.0  # seconds until a webhook must have answered
MOST_AT_ONCE = 50  # decisions in one alert; the others follow with the next pass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertText:
    """An alert of the hub ``hub``, whose dashboard is at ``url``. Without lines it is a test.

    ``begun`` are decisions that wait, ``ended`` decisions that were reported and no longer wait.
    """

    hub: str
    url: str
    now: datetime
    begun: Sequence[Alert]
    ended: Sequence[Alert]

    @property
    def headline(self) -> str:
        """The alert in one line, without line breaks."""
        if len(self.begun) == 1:
            (line,) = self.begun
            return " ".join(f"{line.subject} {line.text}".split())
        if self.begun:
            return f"{len(self.begun)} decisions need an operator"
        if self.ended:
            return f"{len(self.ended)} decision{'' if len(self.ended) == 1 else 's'} resolved"
        return "Test alert: this channel works"

    def json(self) -> str:
        """Return the body of the hub's own form."""
        return json_text.dumps(
            {
                "hub": self.hub,
                "url": self.url,
                "text": self.headline,
                "decisions": [_fields(line) for line in self.begun],
                "resolved": [_fields(line) for line in self.ended],
            }
        )

    def slack(self) -> str:
        """Return the body that Slack's incoming webhooks take. Texts of agents cannot form links or mentions."""
        lines = [f"*<{self.url}|{_escaped(self.hub)}>*: {_escaped(self.headline)}"]
        lines += [
            f"• <{_url(line)}|{_escaped(line.subject)}> {_escaped(line.text)} ({self._waits(line)})"
            for line in self.begun
        ]
        lines += [f"• resolved: {_escaped(line.subject)}" for line in self.ended]
        return json_text.dumps({"text": "\n".join(lines)})

    def mail(self) -> str:
        """Return the body of a mail, as plain text."""
        lines = [f"{line.subject} {line.text}\n{self._waits(line)}\n{_url(line)}\n" for line in self.begun]
        lines += [f"Resolved: {line.subject}\n" for line in self.ended]
        return "\n".join([*(lines or [f"{self.headline}.\n"]), f"{self.hub}: {self.url}\n"])

    def _waits(self, line: Alert) -> str:
        return f"waiting for {times.write(self.now - line.began_at)}"


def _fields(line: Alert) -> dict[str, str]:
    return {
        "key": line.key,
        "subject": line.subject,
        "text": line.text,
        "url": _url(line),
        "began_at": line.began_at.isoformat(),
    }


def _url(line: Alert) -> str:
    """Return the page of a decision."""
    return f"{settings.PUBLIC_URL}{line.path}"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class AlertError(Exception):
    """A channel did not take the alert. The message names the channel and the cause, and no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """A decision that waits now. ``key`` names it while it waits; ``path`` is its page, from the hub's root."""

    key: str
    subject: str
    text: str
    path: str


def channels() -> Sequence[str]:
    """Return the channels that the settings name: ``webhook``, ``mail``, or none."""
    named = {"webhook": settings.A2A_ALERT_URL, "mail": settings.A2A_ALERT_MAIL}
    return [name for name, where in named.items() if where]


def note(concerns: Iterable[Concern], now: datetime) -> None:
    """Record the decisions that wait at ``now``, and the end of those that no longer do. Journals nothing."""
    rows = [
        Alert(key=one.key[:300], subject=one.subject, text=one.text, path=one.path, began_at=now, seen_at=now)
        for one in concerns
    ]
    with write_turns.turn(), transaction.atomic():
        Alert.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["subject", "text", "path", "seen_at", "ended_at"],
        )
        silent = Alert.objects.filter(seen_at__lte=now - ENDED_AFTER)
        silent.filter(reported_at=None).delete()
        silent.filter(ended_at=None).update(ended_at=now, claimed_until=None)


def report(caller: Caller, now: datetime) -> int:
    """Report the decisions that wait long enough, and the end of reported decisions, to every channel.

    Returns the number of decisions in the alert; without any, no alert is sent. A claim keeps two passes from sending
    the same alert. A pass that is killed sends it again later, so an alert can arrive twice and is never lost.
    An alert that one channel took is reported, and the row keeps the error of the others. Journals ``a2a_alert_sent``.
    Raises `AlertError` if no channel took it; a pass after `TRIED_AGAIN_AFTER` tries again.
    """
    begun, ended = _claim(now)
    if not begun and not ended:
        return 0
    keys = [alert.pk for alert in (*begun, *ended)]
    sent, failed = _send(_text(now, begun, ended))
    if not sent:
        Alert.objects.filter(pk__in=keys).update(error=failed)
        raise AlertError(failed)
    with audit.decision(caller) as journal:
        Alert.objects.filter(pk__in=[alert.pk for alert in ended]).delete()
        Alert.objects.filter(pk__in=keys).update(reported_at=journal.now, claimed_until=None, error=failed)
        subjects, over = [str(alert) for alert in begun], [alert.subject for alert in ended]
        journal.beside(hub_entries.AlertSentEntry(subjects, ended=over, to=sent))
    return len(keys)


def send_test(caller: Caller) -> Sequence[str]:
    """Send a test alert and return the channels that took it. Journals ``a2a_alert_sent``.

    Raises `AlertError` if a channel did not take it, after the journal names those that did.
    """
    sent, failed = _send(_text(timezone.now(), [], []))
    if sent:
        audit.note(caller, hub_entries.AlertSentEntry([], ended=[], to=sent))
    if failed:
        raise AlertError(failed)
    return sent


def _claim(now: datetime) -> tuple[list[Alert], list[Alert]]:
    """Claim the alerts that are to be reported, and return those that begin and those that end."""
    after, repeat = settings.A2A_ALERT_AFTER, settings.A2A_ALERT_REPEAT
    with write_turns.turn(), transaction.atomic():
        free = Alert.objects.unclaimed(now).oldest_first().select_for_update(skip_locked=True)
        begun = list(free.begins(now, after=after, repeat=repeat)[:MOST_AT_ONCE])
        ended = list(free.ends()[:MOST_AT_ONCE])
        claimed = [alert.pk for alert in (*begun, *ended)]
        Alert.objects.filter(pk__in=claimed).update(claimed_until=now + TRIED_AGAIN_AFTER)
    return begun, ended


def _text(now: datetime, begun: Sequence[Alert], ended: Sequence[Alert]) -> AlertText:
    hub = f"{settings.A2A_HUB_NAME} {settings.A2A_ENVIRONMENT}".strip()
    return AlertText(hub=hub, url=f"{settings.PUBLIC_URL}/ops/", now=now, begun=begun, ended=ended)


def _send(text: AlertText) -> tuple[Sequence[str], str]:
    """Send the alert to every channel. Return the channels that took it, and why the others did not."""
    ways = {"webhook": _post, "mail": _mail}
    sent, failed = [], []
    for channel in channels():
        try:
            ways[channel](text)
            sent.append(channel)
        except AlertError as error:
            failed.append(f"{channel}: {error}")
    return sent, "; ".join(failed)


def _post(text: AlertText) -> None:
    # The HTTP client takes 10 MB of memory, which the process of the sweep otherwise does without.
    from mailbox.outbound import exchange

    body = text.slack() if settings.A2A_ALERT_FORMAT == "slack" else text.json()
    headers = {"Content-Type": "application/json"}
    url = settings.A2A_ALERT_URL
    try:
        answer = exchange.exchange("POST", url, within=WITHIN, headers=headers, content=body.encode(), glimpse=0)
    except MailboxError as error:
        raise AlertError(error.code) from error  # its message names the URL, which may be a secret
    if not answer.is_success:
        raise AlertError(f"the receiver answered {answer.status}")


def _mail(text: AlertText) -> None:
    sender, to = settings.A2A_ALERT_MAIL_FROM, settings.A2A_ALERT_MAIL
    message = EmailMessage(f"[{text.hub}] {text.headline[:150]}", text.mail(), sender, to)
    try:
        message.send()
    except OSError as error:  # smtplib's errors are also OSErrors
        raise AlertError(type(error).__name__) from error
