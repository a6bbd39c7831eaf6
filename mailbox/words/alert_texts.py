"""The texts of alerts: the JSON of the hub, the text of Slack and its likes, and a mail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mailbox.words import json_text, times


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLine:
    """One decision in an alert. ``url`` is its page, ``began_at`` the time since which it waits."""

    key: str
    subject: str
    text: str
    url: str
    began_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertText:
    """An alert of the hub ``hub``, whose dashboard is at ``url``. Without lines it is a test.

    ``begun`` are decisions that wait, ``ended`` decisions that were reported and no longer wait.
    """

    hub: str
    url: str
    now: datetime
    begun: Sequence[AlertLine]
    ended: Sequence[AlertLine]

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
            f"• <{line.url}|{_escaped(line.subject)}> {_escaped(line.text)} ({self._waits(line)})"
            for line in self.begun
        ]
        lines += [f"• resolved: {_escaped(line.subject)}" for line in self.ended]
        return json_text.dumps({"text": "\n".join(lines)})

    def mail(self) -> str:
        """Return the body of a mail, as plain text."""
        lines = [f"{line.subject} {line.text}\n{self._waits(line)}\n{line.url}\n" for line in self.begun]
        lines += [f"Resolved: {line.subject}\n" for line in self.ended]
        return "\n".join([*(lines or [f"{self.headline}.\n"]), f"{self.hub}: {self.url}\n"])

    def _waits(self, line: AlertLine) -> str:
        return f"waiting for {times.write(self.now - line.began_at)}"


def _fields(line: AlertLine) -> dict[str, str]:
    return {
        "key": line.key,
        "subject": line.subject,
        "text": line.text,
        "url": line.url,
        "began_at": line.began_at.isoformat(),
    }


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
