"""A person's own password. The password of the first run is marked by its salt, until it is changed."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils.crypto import get_random_string

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.journal import entries

_FIRST = "firstrun"
_SALT_LENGTH = 22  # of Django's hashers


def change(caller: Caller, person: User, password: str) -> User:
    """Set the person's password, and return the person as stored. The edge has checked the old password and the new.

    All sessions of the person end, because each is bound to the stored hash; the edge may renew its own. Locks the
    person's row; journals ``person_changed``.
    """
    with audit.decision(caller) as journal:
        stored = _set(person, password)
        journal.beside(entries.person_changed({"username": stored.username, "password": "changed"}))
    return stored


def end_other_sessions(caller: Caller, person: User, password: str) -> User:
    """Hash the person's ``password``, which stays the same, with a new salt; return the person as stored.

    All sessions of the person end, because each is bound to the stored hash; the edge may renew its own. Locks the
    person's row; journals ``person_signed_out``.
    """
    with audit.decision(caller) as journal:
        stored = _set(person, password)
        journal.beside(entries.person_signed_out(stored.username, "everywhere"))
    return stored


def first_hash(password: str) -> str:
    """Return the hash of the password that the first run makes."""
    return make_password(password, salt=_FIRST + get_random_string(_SALT_LENGTH))


def is_first(person: AbstractBaseUser) -> bool:
    """Whether the person still has the password that the first run made."""
    return f"${_FIRST}" in person.password


def _set(person: User, password: str) -> User:
    stored = User.objects.select_for_update().get(pk=person.pk)
    stored.set_password(password)
    stored.save(update_fields=["password"])
    return stored
