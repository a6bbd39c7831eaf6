"""The right to open Django's admin follows the group admin, in each way to give the group."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection

from mailbox.access.callers import Role
from mailbox.access.people import provisioning, staff
from tests.support import factories

pytestmark = pytest.mark.django_db

JOINS = {
    "added": lambda person, group: person.groups.add(group),
    "set": lambda person, group: person.groups.set([group]),
    "by the group": lambda person, group: group.user_set.add(person),
}
LEAVES = {
    "removed": lambda person, group: person.groups.remove(group),
    "set": lambda person, group: person.groups.set([Group.objects.get(name=Role.VIEWER)]),
    "cleared": lambda person, group: person.groups.clear(),
    "by the group": lambda person, group: group.user_set.remove(person),
    "by the empty group": lambda person, group: group.user_set.clear(),
}


def opens_the_admin(name="ada"):
    return User.objects.get(username=name).is_staff


@pytest.fixture
def ada():
    factories.person("ada", None)
    return User.objects.get(username="ada")


@pytest.fixture
def admins():
    return Group.objects.get(name=Role.ADMIN)


@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS)
def test_a_member_of_the_group_opens_the_admin(ada, admins, join):
    before = opens_the_admin()

    join(ada, admins)

    assert (before, opens_the_admin()) == (False, True)


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_who_leaves_the_group_opens_the_admin_no_more(ada, admins, leave):
    ada.groups.add(admins)

    leave(ada, admins)

    assert not opens_the_admin()


def test_a_person_saved_after_the_change_keeps_it(ada, admins):
    ada.groups.add(admins)
    ada.first_name = "Ada"
    ada.save()

    assert opens_the_admin()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_other_groups_change_nothing(ada, role):
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    group = Group.objects.get(name=role)

    ada.groups.add(group)
    ada.groups.remove(group, Group.objects.get(name=Role.ADMIN))

    assert opens_the_admin()


def test_a_superuser_without_the_group_opens_the_admin(admins):
    root = User.objects.create_superuser("root")
    root.groups.add(admins)

    root.groups.clear()

    assert opens_the_admin("root")


def test_a_role_of_the_provider_opens_and_closes_the_admin(ada):
    provisioning.give_role(ada, Role.ADMIN, "192.0.2.7")
    opened = opens_the_admin()
    provisioning.give_role(ada, Role.VIEWER, "192.0.2.7")

    assert (opened, opens_the_admin()) == (True, False)


def test_a_missing_right_is_given_to_members_alone(ada, admins):
    factories.person("vic", Role.VIEWER)
    ada.groups.add(admins)
    User.objects.update(is_staff=False)

    given = [staff.follow(person) for person in User.objects.order_by("username")]

    assert given == [True, False]
    assert (opens_the_admin(), opens_the_admin("vic")) == (True, False)


def test_the_migration_lets_the_admins_of_older_hubs_in(ada, admins):
    factories.person("vic", Role.VIEWER)
    ada.groups.add(admins)
    User.objects.update(is_staff=False)

    migration = import_module("mailbox.migrations.0045_staff_follows_the_group")
    migration.let_admins_in(apps, SimpleNamespace(connection=connection))

    assert (opens_the_admin(), opens_the_admin("vic")) == (True, False)
