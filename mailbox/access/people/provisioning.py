"""People whom a provider of identities names: their accounts there and here, and their roles."""

from django.conf import settings
from django.contrib.auth.models import Group, User

from mailbox.access import audit
from mailbox.access.callers import Caller, Role
from mailbox.access.requests import Request
from mailbox.journal import access_entries
from mailbox.models import ProviderAccount


def person_of(subject: str) -> User | None:
    """Return the person whose account at the provider has this ``subject``; None before its first sign-in."""
    accounts = ProviderAccount.objects.filter(issuer=settings.A2A_OIDC_ISSUER, subject=subject)
    account = accounts.select_related("person").first()
    return account.person if account else None


def link(person: User, subject: str, address: str) -> bool:
    """Link the provider's account ``subject`` to the person; return whether it is the person's.

    A person with another account at the provider keeps that one. Locks the person's row; journals ``person_changed``.
    """
    with audit.decision(Caller.at_dashboard(person.username, address)) as journal:
        User.objects.select_for_update().get(pk=person.pk)
        account = ProviderAccount.objects.filter(person=person, issuer=settings.A2A_OIDC_ISSUER).first()
        if account is None:
            account, is_new = ProviderAccount.objects.get_or_create(
                issuer=settings.A2A_OIDC_ISSUER,
                subject=subject,
                defaults={"person": person, "linked_at": journal.now},
            )
            if is_new:
                linked = access_entries.PersonChangedEntry(person.username, provider_account=access_entries.LINKED)
                journal.beside(linked)
        return account.person_id == person.pk and account.subject == subject


def unlink(caller: Caller, username: str) -> bool:
    """Unlink the person's accounts at providers, so that the next sign-in links one; return whether there was one.

    Needs ``a2a.capabilities.grant``. Raises `CapabilityMissingError`; journals ``person_changed``.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_manage_person(username))
        count, _ = ProviderAccount.objects.filter(person__username=username).delete()
        if count:
            unlinked = access_entries.PersonChangedEntry(username, provider_account=access_entries.UNLINKED)
            journal.beside(unlinked)
    return count > 0


def add(email: str, role: Role | None, address: str) -> User:
    """Add a person without a password, whose name is the ``email``; return the person as stored.

    The caller has checked that no person has this address. Journals ``person_added``. Raises `IntegrityError` if a
    person has that name.
    """
    with audit.decision(Caller.at_dashboard(email, address)) as journal:
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
    with audit.decision(Caller.at_dashboard(person.username, address)) as journal:
        person.groups.remove(*person.groups.filter(name__in=list(Role)).exclude(name=role))
        groups = _join(person, role)
        journal.beside(access_entries.PersonChangedEntry(person.username, groups=groups))
    return person


def _join(person: User, role: Role | None) -> list[str]:
    """Put the person into the group of the role; return the names of all groups of the person."""
    if role is not None:
        person.groups.add(Group.objects.get(name=role))
    return sorted(person.groups.values_list("name", flat=True))
