"""The saved views that a person may open: own views, and views that others share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import CharField, IntegerField

from mailbox.database import compiled
from mailbox.database.compiled import Given
from mailbox.models import SavedView


def of_page(person: int, page: str, *, most: int) -> list[SavedView]:
    """Return the views of a page that the person may open, own views first; ``person`` is the key of a person."""
    found: list[SavedView] = _of_page().rows(person=person, page=page)
    return sorted(found, key=lambda view: view.person_id != person)[:most]


@compiled.once
def _of_page() -> Any:
    found = SavedView.objects.visible_to(Given("person", IntegerField()))
    return found.filter(page=Given("page", CharField())).by_name()


def visible_to(person: int) -> list[SavedView]:
    """Return all views that the person may open, by page and name. Their number is bounded where views are saved."""
    return list(SavedView.objects.visible_to(person).by_name())


def named_like(person: int, text: str, *, most: int) -> Iterable[SavedView]:
    """Return the views that the person may open, whose name has this text; case does not matter."""
    if "\x00" in text:  # PostgreSQL stores no such name, and refuses to look for it
        return []
    return SavedView.objects.visible_to(person).filter(name__icontains=text).by_name()[:most]
