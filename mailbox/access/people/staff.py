"""The right to open Django's admin follows the group admin: each member has it, and loses it with the group.

An admin may also let viewers and operators in, to read.
"""

from collections.abc import Iterable

from django.contrib.auth.models import Group, User

from mailbox.access.callers import Role


def follow(person: User) -> bool:
    """Give a member of the group admin the right to open the admin, if it is missing; return whether it was."""
    if person.is_staff or not person.groups.filter(name=Role.ADMIN).exists():
        return False
    _set(person, may_enter=True)
    return True


def follow_group(instance: User | Group, action: str, pk_set: set[int] | None = None, **_: object) -> None:
    """Give or take the right as people join or leave the group admin. Django calls this for each change of groups."""
    if action not in ("post_add", "pre_remove", "pre_clear"):
        return
    for person in _concerned(instance, pk_set):
        _set(person, may_enter=action == "post_add" or person.is_superuser)


def _concerned(changed: User | Group, pk_set: set[int] | None) -> Iterable[User]:
    """Return the members of the group admin whom the change is about; ``pk_set`` None: it ends all memberships."""
    if isinstance(changed, User):
        groups = changed.groups.filter(name=Role.ADMIN)
        return [changed] if (groups if pk_set is None else groups.filter(pk__in=pk_set)).exists() else []
    if changed.name != Role.ADMIN:
        return []
    return changed.user_set.all() if pk_set is None else changed.user_set.filter(pk__in=pk_set)


def _set(person: User, *, may_enter: bool) -> None:
    person.is_staff = may_enter
    User.objects.filter(pk=person.pk).update(is_staff=may_enter)
