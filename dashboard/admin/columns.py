"""How Django's admin writes values: short ids, reasons and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.templatetags.ops import as_id
from dashboard.wording import journal


def id_of(path: str, title: str) -> Callable[[Any], SafeString | str]:
    """Return the column of a short id, whose title is the whole one. ``path`` names its field, as `task.uuid`."""

    @admin.display(description=title)
    def id_(row: Any) -> SafeString | str:
        value = row
        for name in path.split("."):
            value = getattr(value, name)
        return "" if value is None else as_id(value)

    return id_


@admin.display(description="reason")
def reason(event: Any) -> str:
    return journal.in_words(event).reason


def indented(row: Model, name: str) -> Callable[[Any], SafeString] | str:
    """Return a field that writes the JSON text of the column ``name``, indented; the name itself for other values."""
    value = getattr(row, name)
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return name
    try:
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False)
    except ValueError:
        return name

    @admin.display(description=str(row._meta.get_field(name).verbose_name))  # type: ignore[union-attr]
    def written(shown: Any) -> SafeString:
        return format_html('<pre class="json">{}</pre>', text)

    return written
