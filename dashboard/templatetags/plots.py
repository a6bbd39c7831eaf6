"""Parts of charts that a page repeats hundreds of times, and that are therefore written in one call."""

from collections.abc import Sequence
from html import escape

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from dashboard.figures.plots import Range
from dashboard.templatetags.ops import axis
from dashboard.time_charts import Hit, Mark

register = template.Library()


@register.simple_tag
def hit_areas(hits: Sequence[Hit], among: str, scale: Range) -> SafeString:
    """Write the areas that lead to the tasks of each slot. ``among`` is the query that narrows them.

    Django's own escaping of hundreds of areas takes as long as the rest of a page.
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
def event_marks(marks: Sequence[Mark]) -> SafeString:
    """Write a line for each marked event, with a link to it."""
    return SafeString(
        "".join(
            f'<a href="{escape(mark.url)}" tabindex="-1"><path class="event" d="M{mark.x} 0v100">'
            f"<title>{escape(mark.words)}</title></path></a>"
            for mark in marks
        )
    )
