"""The tags and filters that write times, states and ids alike on every page.

The problem of an attempt at a delivery, in few words. The page shows the receiver's URL once, beside it.

How the pages show a state: its sign, its word, and the name of its colour.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any
from uuid import UUID

from django import template
from django.template import Context
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard import time_charts
from dashboard.figures import plots, thresholds
from dashboard.wording.payload import Part
from mailbox.database import descent
from mailbox.inspection.search import terms
from mailbox.inspection.statistics import backlogs, history, standing
from mailbox.words import redaction, times

STATES = {
    "queued": ("○", "Queued", "queued"),
    "waiting": ("○", "Waiting", "queued"),
    "in_flight": ("◐", "In flight", "leased"),
    "interrupted": ("?", "Interrupted", "partial"),
    "stale": ("◑", "Stale", "stale"),
    "ok": ("✓", "OK", "ok"),
    "partial": ("◒", "Partial", "partial"),
    "error": ("✕", "Error", "error"),
    "cancelled": ("⊘", "Cancelled", "queued"),
    "rejected": ("✕", "Rejected", "error"),
    "expired": ("✕", "Expired", "error"),
    "result": ("✓", "Answered", "ok"),
    "requeue": ("↺", "Requeued", "stale"),
    "auto_requeue": ("↺", "Requeued automatically", "stale"),
    "force_error": ("✕", "Forced error", "error"),
    "send_again": ("↺", "Sent again", "ok"),
    "sent_before": ("◑", "Already sent again", "stale"),
    "release": ("↺", "Released", "queued"),
    "cancel": ("⊘", "Cancelled", "queued"),
    "asked": ("?", "Asked sender", "partial"),
    "pending": ("○", "Pending", "leased"),
    "delivered": ("◐", "Delivered", "ok"),
    "acked": ("✓", "Acknowledged", "ok"),
    "ready": ("○", "Ready", "leased"),
    "consent": ("◑", "Needs consent", "stale"),
    "skipped": ("⊘", "Skipped", "queued"),
    "done": ("✓", "Done", "ok"),
    "changed": ("◑", "Lease changed", "stale"),
    "completed": ("✓", "Completed meanwhile", "leased"),
    "refused": ("✕", "Refused", "error"),
    "failed": ("✕", "Failed", "error"),
    "left": ("⊘", "Excluded", "queued"),
    "preview": ("○", "Preview", "leased"),
    "applying": ("◐", "In progress", "leased"),
    "discarded": ("⊘", "Discarded", "queued"),
    "plan_expired": ("⊘", "Expired", "queued"),
    "disabled": ("✕", "Failed", "error"),
    "unchanged": ("✓", "Nothing to do", "queued"),
    "degraded": ("◑", "Degraded", "stale"),
    "failing": ("✕", "Failing", "error"),
    "paused": ("◑", "Paused", "stale"),
    "leasing": ("✓", "OK", "ok"),
    "stale_lease": ("◑", "Stale lease", "stale"),
    "quiet": ("◑", "Not polling", "stale"),
    "unserved": ("◑", "Backlogged", "stale"),
    "live": ("✓", "Live", "ok"),
    "revoked": ("⊘", "Revoked", "queued"),
    "used_up": ("⊘", "Used up", "queued"),
    "unreachable": ("✕", "Unreachable", "error"),
    "mostly_errors": ("✕", "Mostly errors", "error"),
    "note": ("○", "Note", "queued"),
    "passed": ("✓", "Passed", "ok"),
    "open": ("○", "Open to anyone", "partial"),
    "problem": ("✕", "Problem", "error"),
    "online": ("✓", "Online", "ok"),
    "suspect": ("◑", "Suspect", "stale"),
    "offline": ("○", "Offline", "queued"),
    "expires_soon": ("◑", "Expires soon", "stale"),
    "replaced": ("○", "Replaced", "queued"),
}


_NOISE = re.compile(r"\[Errno -?\d+\] |^A2A: ")
_NO_ANSWER = re.compile(r"^no answer(?: from \S+?)?(?P<late> within [\d.]+ s)?(?::? |$)")
_ANSWERED = re.compile(r"^the receiver answered \d+(?:: )?")
register = template.Library()


def in_words(problem: str, status: int | None) -> str:
    """Return the problem without the receiver's URL and the numbers of the system's errors.

    A receiver that answered has its ``status`` first. An attempt without a problem is "", or its status.
    """
    text = _NOISE.sub("", redaction.text(problem or "")).strip()
    if status is not None:
        rest = _ANSWERED.sub("", text).strip()
        return f"HTTP {status}{f': {rest}' if rest else ''}"
    if match := _NO_ANSWER.match(text):
        cause = text[match.end() :]
        text = cause or f"no answer{match['late'] or ''}"
    return text[:1].upper() + text[1:]


@register.simple_tag
def pill(state: str) -> SafeString:
    """Write a state as glyph, word and hue. The hue alone never shows a state."""
    glyph, word, hue = STATES.get(state, ("·", state, "queued"))
    return format_html('<span class="pill {}"><span aria-hidden="true">{}</span> {}</span>', hue, glyph, word)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw an icon of the sprite. The word beside it says the same."""
    sprite = static("ops/icons.svg")
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', sprite, name)


@register.filter
def words_of(state: str) -> str:
    """Write the word of a state within a sentence."""
    return STATES.get(state, ("", state, ""))[1].lower()


@register.filter
def is_late(since: datetime | None, now: datetime) -> bool:
    """Whether a task that is queued since then waits for too long."""
    return since is not None and since <= standing.late_before(now)


@register.filter
def brief(value: timedelta | None) -> str:
    """Write a rough duration, such as ``840 ms``, ``6.4 s`` or ``4 m 12 s``; a dash for None."""
    if value is None:
        return "\N{EN DASH}"
    seconds = value.total_seconds()
    if seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    return f"{seconds:.1f} s" if seconds < 60 else times.write(value)


@register.filter
def share(value: float | None) -> str:
    """Write per cent; a dash for None."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:.1f} %" if 0 < value < 10 else f"{value:.0f} %"


@register.filter
def rate(value: float) -> str:
    """Write a number per minute."""
    return f"{value:.1f}" if 0 < value < 10 else thresholds.grouped(round(value))


@register.simple_tag(takes_context=True)
def results_of(context: Context, status: str, count: int, posted: str) -> str:
    """Write the number of results of a status as a link to their list. A 0 is no link."""
    if not count:
        return thresholds.grouped(count)
    where = f"{context.get('among', '')}{posted}&status={status}"
    return format_html('<a href="{}?{}">{}</a>', reverse("ops:results"), where, thresholds.grouped(count))


@register.filter
def finished_in(slot: history.Slot) -> str:
    """Write the filter of the tasks that ended in this slot."""
    return plots.finished(slot.start, slot.end)


@register.filter
def posted_in(slot: history.Slot) -> str:
    """Write the filter of the results of this slot."""
    return plots.posted(slot.start, slot.end)


@register.filter
def absolute(number: int) -> int:
    return abs(number)


@register.filter
def up_to(number: int) -> str:
    """Write an agent's backlog, which is counted no further than `COUNTED_TO`."""
    return f"{thresholds.grouped(backlogs.COUNTED_TO)}+" if number > backlogs.COUNTED_TO else thresholds.grouped(number)


@register.filter
def counted(number: int) -> str:
    """Write a number that is counted no further than `thresholds.COUNTED_TO`."""
    return str(thresholds.Count(number))


def axis(moment: datetime, scale: plots.Range) -> str:
    """Write the left end of a chart: the time, and for a long chart the day."""
    local = timezone.localtime(moment).replace(tzinfo=None)
    return local.isoformat(" ", "minutes") if scale.span >= timedelta(days=1) else f"{local:%H:%M}"


@register.simple_tag
def age(moment: datetime, now: datetime) -> SafeString:
    """Write the time since ``moment``. The live script keeps it ticking."""
    local = timezone.localtime(moment)
    title = f"{local:%Y-%m-%d %H:%M:%S %Z}"
    return SafeString(
        f'<time class="age" datetime="{moment.isoformat()}" title="{title}" data-age>{times.write(now - moment)}</time>'
    )


@register.simple_tag
def ago(moment: datetime, now: datetime) -> SafeString:
    """Write ``moment`` as a time ago. Paper grows old, so print shows the date."""
    return SafeString(f'{age(moment, now)}<span class="ago"> ago</span>')


@register.simple_tag(takes_context=True)
def moment(context: Context, value: datetime | None, now: datetime) -> SafeString:
    """Write ``value`` in the person's time zone, with its date if it is not today; or as a time ago.

    The person's preferences decide between the two.
    """
    if value is None:
        return SafeString("\N{EN DASH}")
    is_relative = context["preferences"].times == "relative"
    if is_relative and value <= now:
        return ago(value, now)
    local = timezone.localtime(value)
    shape = "%H:%M:%S" if local.date() == timezone.localtime(now).date() else "%Y-%m-%d %H:%M:%S"
    full = f"{local:%Y-%m-%d %H:%M:%S.%f %Z}"
    text = f"in {times.write(value - now)}" if is_relative else local.strftime(shape)
    return SafeString(f'<time datetime="{value.isoformat()}" title="{full}">{text}</time>')


@register.filter
def short(value: UUID | str) -> str:
    """Write an id by its two ends."""
    text = str(value)
    return text if len(text) <= 12 else f"{text[:4]}…{text[-4:]}"


@register.filter
def as_id(value: UUID | str) -> SafeString:
    """Write an id by its two ends, in print whole."""
    return SafeString(f'<code title="{escape(str(value))}">{escape(short(value))}</code>')


@register.filter
def term(value: str, key: str) -> str:
    """Write the query term that selects ``value`` as ``key``."""
    return terms.term(key, value)


@register.filter
def percent(permille: float) -> str:
    """Write a place in permille of a picture as the length of an attribute."""
    return f"{permille / 10:g}%"


@register.simple_tag
def delivery_problem(problem: str | None, status: int | None) -> str:
    """Write what went wrong at an attempt, without the receiver's URL; "" if nothing did."""
    return in_words(problem or "", status) if problem or status else ""


register.filter("span", times.write)
register.filter("grouped", thresholds.grouped)
register.filter("public_part", redaction.url)
register.filter("without_secrets", redaction.text)


@register.simple_tag(takes_context=True)
def preview(context: Context, part: Part) -> SafeString | None:
    """Return a part of a payload as rendered Markdown, None if the page shows it as text."""
    shown: SafeString | None = context["previews"].of(part)
    return shown


@register.filter
def opening(row: Any) -> str:
    """Write the beginning of the intent text of a task, of a lease's task or of a result's, at most 200 characters.

    A list reads only this beginning.
    """
    read: str | None = getattr(row, "opening", None)
    return getattr(row, "task", row).intent_text[: descent.OPENING] if read is None else read


@register.filter
def clipped(text: str, length: int) -> str:
    """Write the first ``length`` characters of the first line."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= length else f"{line[:length]}…"


@register.filter
def exactly(text: str) -> str:
    """Write the text of a ``pre``. A browser drops its first newline, so such a text gets another."""
    return f"\n{text}" if text.startswith("\n") else text


@register.filter
def with_commands(text: str) -> SafeString:
    """Write each part between backticks as a command that a person may copy."""
    parts = text.split("`")
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code data-command>{}</code>", part) if number % 2 else part,)
            for number, part in enumerate(parts)
        ),
    )


@register.filter
def head(text: str, length: int) -> str:
    """Return exactly the first ``length`` characters."""
    return text[:length]


@register.filter
def words(text: str) -> list[str]:
    return text.split()


@register.filter
def add_number(value: float, other: float) -> float:
    return round(value + other, 1)


@register.simple_tag
def lasted(since: datetime, until: datetime) -> str:
    """Write the time from ``since`` to ``until``."""
    return times.write(until - since)


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: str | None) -> str:
    """Return the query string of this page with some parameters changed. It has no cursor: the list begins anew."""
    query = context["request"].GET.copy()
    query.pop("cursor", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"


@register.simple_tag
def hit_areas(hits: Sequence[time_charts.Hit], among: str, scale: plots.Range) -> SafeString:
    """Write the areas that lead to the tasks of each slot. ``among`` is the query that narrows them.

    Django's own escaping of hundreds of areas takes as long as the rest of a page, so one call writes them all.
    """
    tasks = escape(f"{reverse('ops:tasks')}?{among}")
    return SafeString(
        "".join(
            f'<a href="{tasks}{escape(hit.query)}" tabindex="-1"><title>{axis(hit.start, scale)}: {escape(hit.words)}'
            f'</title><rect class="area" x="{hit.x}" width="{hit.width}" height="100"></rect></a>'
            for hit in hits
        )
    )


@register.simple_tag
def event_marks(marks: Sequence[time_charts.Mark]) -> SafeString:
    """Write a line for each marked event, with a link to it."""
    return SafeString(
        "".join(
            f'<a href="{escape(mark.url)}" tabindex="-1"><path class="event" d="M{mark.x} 0v100">'
            f"<title>{escape(mark.words)}</title></path></a>"
            for mark in marks
        )
    )
