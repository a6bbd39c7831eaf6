"""The parts of one page that it shows as rendered Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.wording import markdown
from dashboard.wording.payload import Part


@dataclass(slots=True, kw_only=True)
class Previews:
    """The part that a person ``asked`` for by its name, and parts of a declared type while the page has ``room``.

    ``room`` is in characters.
    """

    asked: str
    room: int = markdown.MOST

    def of(self, part: Part) -> SafeString | None:
        """Return the preview of a part as HTML, None for a part that stays text."""
        text = part.text or ""
        if not part.has_preview or (part.name != self.asked and not part.is_markdown):
            return None
        if part.name != self.asked:
            if len(text) > self.room:
                return None
            self.room -= len(text)
        return markdown.rendered(text)
