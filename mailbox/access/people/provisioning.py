"""People whom a provider of identities names: their accounts and their roles."""

from django.contrib.auth.models import Group, User

from mailbox.access import audit
from mailbox.access.callers import Caller, Role
from mailbox.journal import access_entries
from mailbox.models import AuditEvent


def add(email: str, role: Role | None, address: str) -> User:
    """Add a person without a password, whose name is the ``email``; return the person as stored.

    The caller has checked that no person has this address. Journals ``person_added``. Raises `IntegrityError` if a
    person has that name.
    """
    with audit.decision(_caller(email, address)) as journal:
        person = User.objects.create_user(email, email=email)
        groups = _join(person, role)
        journal.beside(access_entries.PersonAddedEntry(email, email=email, groups=groups))
    return person


def give_role(person: User, role: Role, address: str) -> User:
    """Put the person into the group of the role, and out of the groups of other roles; return the person.

    Other groups stay. Journals ``person_changed``, or nothing if the person has this role alone.
    """
    if set(person.groups.filter(name__in=list(Role)).values_list("name", flat=True)) == {str(role)}:
        return person
    with audit.decision(_caller(person.username, address)) as journal:
        person.groups.remove(*person.groups.filter(name__in=list(Role)).exclude(name=role))
        groups = _join(person, role)
        journal.beside(access_entries.PersonChangedEntry(person.username, groups=groups))
    return person


def _join(person: User, role: Role | None) -> list[str]:
    """Put the person into the group of the role; return the names of all groups of the person."""
    if role is not None:
        person.groups.add(Group.objects.get(name=role))
    return sorted(person.groups.values_list("name", flat=True))


def _caller(username: str, address: str) -> Caller:
    return Caller(name=f"user:{username}", source=AuditEvent.Source.DASHBOARD, address=address)
