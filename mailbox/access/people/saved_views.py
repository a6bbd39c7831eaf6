"""The saved views of people: a query of a page of the dashboard under a name.

A view is private or shared with all people. A person may open own views, and views that others share.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal.access_entries import ViewSharedEntry, ViewUnsharedEntry
from mailbox.models import SavedView
from mailbox.words.errors import InvalidRequestError

MOST = 100  # views of a person
MOST_SHARED = 200  # views that all people together share
LONGEST_QUERY = 8000  # characters of a query string


def save(caller: Caller, person: User, *, page: str, name: str, query: str, is_shared: bool = False) -> SavedView:
    """Save the ``query`` of a page under a name, and return the view. Sharing it needs ``a2a.views.share``.

    ``page`` is a value of `SavedView.Page`. ``query`` is a query string without "?", which the edge has checked.
    Raises `InvalidRequestError` for another page. Raises it with the field ``name`` for a name that is blank, too long,
    not printable or taken on this page. Raises it likewise beyond `MOST` and `MOST_SHARED`. Raises
    `CapabilityMissingError`. Locks the person's row; journals ``capability_check`` and ``view_shared`` if shared.
    """
    name = _checked(name)
    if page not in SavedView.Page.values:
        raise InvalidRequestError({"page": f'"{page[:50]}" is no page with views'})
    if len(query) > LONGEST_QUERY or not (query.isascii() and query.isprintable()):
        raise InvalidRequestError({"query": f"must be ASCII of at most {LONGEST_QUERY} characters"})
    with audit.decision(caller) as journal:
        _lock(person)
        if SavedView.objects.filter(person=person).count() >= MOST:
            raise InvalidRequestError({"name": f"You have {MOST} saved views, which is the limit. Delete one first."})
        _require_free(person, page, name)
        view = SavedView(person=person, page=page, name=name, query=query, made_at=journal.now)
        if is_shared:
            _share(journal, view)
        view.save(force_insert=True)
        return view


def rename(caller: Caller, person: User, number: int, name: str) -> SavedView | None:
    """Give the person's own view another name, and return it; None if the person has no view of this number.

    A shared view needs ``a2a.views.share``. Raises `InvalidRequestError` with the field ``name``, as `save` does, and
    `CapabilityMissingError`. Locks the person's row and the view; journals as `save` does.
    """
    name = _checked(name)
    with audit.decision(caller) as journal:
        view = _own(person, number)
        if view is None or view.name == name:
            return view
        _require_free(person, view.page, name)
        view.name = name
        if view.is_shared:
            journal.admit(Request.to_share_view(view.page))
            journal.beside(_row(ViewSharedEntry, view))
        view.save(update_fields=["name"])
        return view


def share(caller: Caller, person: User, number: int) -> SavedView | None:
    """Show the person's own view to all people, and return it; None if the person has no view of this number.

    Needs ``a2a.views.share``, which operators hold. Raises `CapabilityMissingError`, and `InvalidRequestError` beyond
    `MOST_SHARED`. Locks the person's row and the view; journals ``capability_check`` and ``view_shared``.
    """
    with audit.decision(caller) as journal:
        view = _own(person, number)
        if view is not None and not view.is_shared:
            _share(journal, view)
            view.save(update_fields=["is_shared"])
        return view


def unshare(caller: Caller, person: User, number: int) -> SavedView | None:
    """End the sharing of a view, and return it; None if no view of this number is shared.

    The view stays with its person. A view of another person needs ``a2a.views.share``. Raises
    `CapabilityMissingError`. Locks the view; journals ``view_unshared``, and ``capability_check`` for another's view.
    """
    with audit.decision(caller) as journal:
        shared = SavedView.objects.filter(is_shared=True, pk=number).select_related("person")
        view = shared.select_for_update(of=("self",)).first()
        if view is None:
            return None
        if view.person_id != person.pk:
            journal.admit(Request.to_share_view(view.page))
        view.is_shared = False
        view.save(update_fields=["is_shared"])
        journal.beside(_row(ViewUnsharedEntry, view))
        return view


def delete(caller: Caller, person: User, number: int) -> SavedView | None:
    """Delete the person's own view, and return what it was; None if the person has no view of this number.

    Locks the person's row and the view; journals ``view_unshared`` if it was shared, else nothing.
    """
    with audit.decision(caller) as journal:
        view = _own(person, number)
        if view is not None:
            if view.is_shared:
                journal.beside(_row(ViewUnsharedEntry, view))
            SavedView.objects.filter(pk=number).delete()
        return view


def _lock(person: User) -> None:
    User.objects.select_for_update().get(pk=person.pk)


def _own(person: User, number: int) -> SavedView | None:
    _lock(person)
    own = SavedView.objects.filter(person=person, pk=number).select_related("person")
    return own.select_for_update(of=("self",)).first()


def _share(journal: audit.Journal, view: SavedView) -> None:
    """Mark the view as shared. The caller stores it."""
    journal.admit(Request.to_share_view(view.page))
    if SavedView.objects.filter(is_shared=True).count() >= MOST_SHARED:
        raise InvalidRequestError({"name": f"People share {MOST_SHARED} views, which is the limit. Stop sharing one."})
    view.is_shared = True
    journal.beside(_row(ViewSharedEntry, view))


def _row(kind: type[ViewSharedEntry | ViewUnsharedEntry], view: SavedView) -> ViewSharedEntry | ViewUnsharedEntry:
    return kind(view.person.username, view.page, view.name, view.query)


def _checked(name: str) -> str:
    name = name.strip()
    if not name or len(name) > SavedView.LONGEST_NAME:
        raise InvalidRequestError({"name": f"Type a name of 1 to {SavedView.LONGEST_NAME} characters."})
    if not name.isprintable():
        raise InvalidRequestError({"name": "The name has a character that cannot be shown."})
    return name


def _require_free(person: User, page: str, name: str) -> None:
    if SavedView.objects.filter(person=person, page=page, name=name).exists():
        raise InvalidRequestError({"name": f"You already have a view “{name}” on this page."})


def of_page(person: int, page: str, *, most: int) -> list[SavedView]:
    """Return the views of a page that the person may open, own views first; ``person`` is the key of a person."""
    views = SavedView.objects.visible_to(person).filter(page=page).by_name()
    return sorted(views, key=lambda view: view.person_id != person)[:most]


def visible_to(person: int) -> list[SavedView]:
    """Return all views that the person may open, by page and name. Their number is bounded where views are saved."""
    return list(SavedView.objects.visible_to(person).by_name())


def named_like(person: int, text: str, *, most: int) -> Iterable[SavedView]:
    """Return the views that the person may open, whose name has this text; case does not matter."""
    if "\x00" in text:  # PostgreSQL stores no such name, and refuses to look for it
        return []
    return SavedView.objects.visible_to(person).filter(name__icontains=text).by_name()[:most]
