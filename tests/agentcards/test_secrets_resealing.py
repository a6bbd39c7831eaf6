import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import TextField

from agentcards import profiles, secrets
from agentcards.fields import UNREADABLE, SealedUrlField
from agentcards.models import AgentProfile, RemoteCall, RemoteOutage
from mailbox.access.callers import Caller
from mailbox.access.people import second_factor
from mailbox.models import PushDelivery, SecondFactor
from mailbox.words import redaction, secret_box
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

URL = "https://user:pa55word@remote.example/agent"
OLD, NEW = "old-" * 12, "new-" * 12


@pytest.fixture(autouse=True)
def _old_secret(settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []


@pytest.fixture
def new_secret(settings):
    """Return a function that makes `NEW` the secret of the hub; by default the old secret is a fallback."""

    def use(fallbacks=(OLD,)):
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, list(fallbacks)

    return use


def stored(table, column):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {table} ORDER BY id")  # noqa: S608
        return [text for (text,) in cursor.fetchall()]


def store(column, table, text):
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s", [text])  # noqa: S608


def url_of(agent):
    return AgentProfile.objects.get(agent=agent.agent).remote_url


@pytest.mark.parametrize("url", [URL, "https://:k3y@remote.example", "https://hub.example/p/p_abcdefgh_0123"])
def test_a_url_with_credentials_is_stored_encrypted(bob, url):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": url})

    (text,) = stored("agentcards_agentprofile", "remote_url")
    assert text.startswith("sealed:")
    assert not any(part in text for part in ("pa55word", "k3y", "0123", "example"))
    assert url_of(bob) == url


def test_a_url_without_credentials_is_stored_as_it_is(bob):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": "https://remote.example/agent"})

    assert stored("agentcards_agentprofile", "remote_url") == ["https://remote.example/agent"]


def test_a_key_at_a_remote_agent_is_stored_encrypted_and_encrypted_again(bob, new_secret):
    changes = {"card_url": "https://remote.example/agent", "card_key": "k3y"}
    profiles.update_profile(Caller.command_line(), bob.agent, changes)
    (before,) = stored("agentcards_agentprofile", "card_key")
    new_secret()

    secrets.reseal(Caller.command_line())

    (after,) = stored("agentcards_agentprofile", "card_key")
    assert before.startswith("sealed:")
    assert before != after
    new_secret(fallbacks=())
    assert AgentProfile.objects.get(agent=bob.agent).card_key == "k3y"


def test_a_call_and_an_outage_keep_no_readable_credentials(alice, bob):
    lease = factories.leased_task(alice, bob)
    RemoteCall.objects.create(lease=lease, base_url=URL, began_at=lease.leased_at, gives_up_at=lease.leased_at)
    RemoteOutage.extend(bob.agent, URL, lease.leased_at)

    texts = stored("agentcards_remotecall", "base_url") + stored("agentcards_remoteoutage", "base_url")
    assert not any("pa55word" in text for text in texts)
    assert RemoteCall.objects.get().base_url == URL


def test_a_new_url_ends_the_pause_of_an_unreachable_agent(alice, bob):
    factories.sent_task(alice, bob)
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": URL})
    now = AgentProfile.objects.get().agent.created_at
    RemoteOutage.extend(bob.agent, URL, now)
    assert not AgentProfile.objects.callable_at(now).exists()

    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": f"{URL}/other"})

    assert AgentProfile.objects.callable_at(now).exists()


def test_all_stored_secrets_are_encrypted_again(bob, new_secret):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": URL})
    factories.PushDeliveryFactory.create(sender=bob.agent, sealed_secret=secret_box.seal("s3cret"))
    factories.PushDeliveryFactory.create(sender=bob.agent, sealed_secret=None)
    new_secret()

    done = secrets.reseal(Caller.command_line())

    assert (done.resealed, done.unreadable) == (2, 0)
    (row,) = factories.journal(Kind.SECRETS_RESEALED)
    assert row.fields == {"resealed": 2, "unreadable": 0}
    new_secret(fallbacks=[])
    assert url_of(bob) == URL
    assert [
        row.sealed_secret and secret_box.unseal(row.sealed_secret) for row in PushDelivery.objects.order_by("pk")
    ] == [
        "s3cret",
        None,
    ]


def test_a_second_pass_changes_nothing(bob, new_secret):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": URL})
    new_secret()
    secrets.reseal(Caller.command_line())
    before = stored("agentcards_agentprofile", "remote_url")

    assert secrets.reseal(Caller.command_line()).resealed == 0
    assert stored("agentcards_agentprofile", "remote_url") == before


def test_a_pass_that_was_cut_is_continued(bob, new_secret, monkeypatch):
    monkeypatch.setattr(secrets, "BATCH", 2)
    for number in range(5):
        factories.PushDeliveryFactory.create(sender=bob.agent, sealed_secret=secret_box.seal(f"s{number}"))
    new_secret()
    renewed = secrets._renewed
    monkeypatch.setattr(secrets, "_renewed", cut_after(2, renewed))
    with pytest.raises(KeyboardInterrupt):
        secrets.reseal(Caller.command_line())
    assert current() == 2

    monkeypatch.setattr(secrets, "_renewed", renewed)
    assert secrets.reseal(Caller.command_line()).resealed == 3
    assert current() == 5


def cut_after(count, renewed):
    calls = []

    def renew(text):
        calls.append(text)
        if len(calls) > count:
            raise KeyboardInterrupt
        return renewed(text)

    return renew


def current():
    sealed = PushDelivery.objects.values_list("sealed_secret", flat=True)
    return sum(secret_box.is_current(text) for text in sealed if text)


def test_a_plain_url_of_an_earlier_version_is_read_and_then_encrypted(bob):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": "https://x.example"})
    store("remote_url", "agentcards_agentprofile", URL)
    assert url_of(bob) == URL

    assert secrets.reseal(Caller.command_line()).resealed == 1

    assert stored("agentcards_agentprofile", "remote_url")[0].startswith("sealed:")
    assert url_of(bob) == URL


def test_a_secret_that_cannot_be_read_is_counted_and_kept(bob, new_secret):
    profiles.update_profile(Caller.command_line(), bob.agent, {"remote_url": URL})
    new_secret(fallbacks=[])

    assert url_of(bob) == UNREADABLE
    assert secrets.reseal(Caller.command_line()).unreadable == 1
    new_secret()
    assert url_of(bob) == URL


def test_every_encrypted_column_is_encrypted_again():
    found = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.fields
        if (field.name.startswith("sealed_") and isinstance(field, TextField)) or isinstance(field, SealedUrlField)
    }

    assert found | {(SecondFactor, "key")} == set(secrets.COLUMNS)


@pytest.mark.parametrize("url", ["https://a.example", "https://a.example/agent", ""])
def test_a_url_without_credentials_is_no_secret(url):
    assert not redaction.has_credentials(url)


def test_keys_of_second_factors_are_encrypted_again(new_secret, settings):
    person = User.objects.create_user("ana")
    device = second_factor.start(Caller.command_line(), person)
    key = device.bin_key
    new_secret()

    first = secrets.reseal(Caller.command_line()).resealed
    again = secrets.reseal(Caller.command_line()).resealed

    settings.SECRET_KEY_FALLBACKS = []
    assert (first, again) == (1, 0)
    assert SecondFactor.objects.get().bin_key == key
