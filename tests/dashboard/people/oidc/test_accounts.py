"""A person of the provider is known by the account there. Its address counts at the first sign-in alone."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Caller, Role
from mailbox.access.people import provisioning
from mailbox.models import ProviderAccount
from mailbox.words.errors import CapabilityMissingError
from mailbox.words.kinds import Kind
from tests.dashboard.people.oidc.walk import LINK, REFUSED, is_signed_in, rows
from tests.dashboard.people.oidc.walk import sign_in as walk
from tests.support import factories

pytestmark = pytest.mark.django_db

ANOTHER = ("person_sign_in_failed", "anonymous", {"username": "ana", "reason": "account", "count": 1})


def act_as(provider, **person):
    provider.person |= person


def unlink(browser, person):
    return browser.post("/admin/auth/user/", {"action": "unlink_provider", "_selected_action": person.pk})


@pytest.mark.parametrize("case", ["ana@example.org", "ANA@EXAMPLE.ORG"])
def test_another_account_with_the_address_of_a_person_is_refused_by_name(provider, ana, client, case):
    walk(provider, Client())
    act_as(provider, sub="2", email=case)

    assert walk(provider, client)["Location"] == REFUSED
    assert not is_signed_in(client)
    assert rows()[-1] == ANOTHER
    assert [account.subject for account in ProviderAccount.objects.all()] == ["1"]


def test_an_account_stays_the_person_s_under_a_new_address(provider, ana, client):
    walk(provider, Client())
    factories.person("eve", Role.VIEWER)
    User.objects.filter(username="eve").update(email="new@example.org")
    act_as(provider, email="new@example.org")

    walk(provider, client)

    assert client.session["_auth_user_id"] == str(ana.pk)
    assert rows().count(LINK) == 1


def test_an_account_of_another_issuer_is_another_account(provider, ana, client):
    ProviderAccount.objects.create(person=ana, issuer="https://old.example", subject="7", linked_at=ana.date_joined)

    walk(provider, client)

    assert is_signed_in(client)
    assert ProviderAccount.objects.filter(person=ana).count() == 2


def test_an_inactive_person_is_not_linked(provider, ana, client):
    User.objects.update(is_active=False)

    assert walk(provider, client)["Location"] == REFUSED
    assert not ProviderAccount.objects.exists()


def test_an_admin_unlinks_a_person_and_the_next_sign_in_links_again(provider, ana, client, sign_in):
    walk(provider, Client())
    act_as(provider, sub="2")

    answer = unlink(sign_in("una", Role.ADMIN), ana)
    walk(provider, client)

    assert answer.status_code == 302
    assert is_signed_in(client)
    assert rows()[2:4] == [
        ("person_changed", "user:una", {"username": "ana", "provider_account": "unlinked"}),
        LINK,
    ]


def test_a_person_without_an_account_is_not_unlinked_and_leaves_no_row(provider, ana, sign_in):
    unlink(sign_in("una", Role.ADMIN), ana)

    assert not [row for row in rows() if row[0] == "person_changed"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_admins_alone_unlink(provider, ana, role):
    walk(provider, Client())
    caller: Caller = factories.person("olga", role)

    with pytest.raises(CapabilityMissingError):
        provisioning.unlink(caller, "ana")

    assert ProviderAccount.objects.exists()
    assert factories.journal(Kind.CAPABILITY_CHECK)[-1].fields["passed"] is False


@pytest.mark.parametrize("sub", ["x" * 256, "\u00e9", "a\nb", "a\0b"], ids=ascii)
def test_a_subject_that_no_provider_may_give_fails(provider, ana, client, sub):
    act_as(provider, sub=sub)

    assert walk(provider, client)["Location"] == "/ops/sign-in/?failed"
    assert not is_signed_in(client)


def test_two_accounts_at_once_with_one_address_link_one(provider, ana, client, monkeypatch):
    person_of, other = provisioning.person_of, Client()

    def second(subject):
        monkeypatch.setattr(provisioning, "person_of", person_of)
        known = person_of(subject)
        act_as(provider, sub="2")
        walk(provider, other)
        return known

    monkeypatch.setattr(provisioning, "person_of", second)
    first = walk(provider, client)

    assert first["Location"] == REFUSED
    assert is_signed_in(other)
    assert [account.subject for account in ProviderAccount.objects.all()] == ["2"]
