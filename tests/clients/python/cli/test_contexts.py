import errno
import itertools
import os
import stat

import pytest

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.contexts import ConfigError, ConnectionOptions, Context, Contexts, chosen
from mailbox.models import ApiKey
from tests.support.factories import key_of

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]

HUB = Context(url="http://hub", key="a2a_k")
OTHER = Context(url="http://other", key_file="/keys/other")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Return the file of the contexts. The environment names nothing else."""
    file = tmp_path / "new" / "config.toml"
    monkeypatch.setenv("A2A_CONFIG", str(file))
    for name in ("A2A_URL", "A2A_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return file


@pytest.fixture
def full_disk(monkeypatch):
    """Return a function: the disk is full from the given writing on, counted from 1."""
    whole = os.fsync

    def fill(first):
        writings = itertools.count(1)

        def fsync(number):
            if next(writings) >= first:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            whole(number)

        monkeypatch.setattr(os, "fsync", fsync)

    return fill


def test_contexts_are_kept_for_their_owner_alone(config):
    contexts.store(Contexts({"hub": HUB, "other": OTHER}, "hub"))

    assert contexts.load() == Contexts({"hub": HUB, "other": OTHER}, "hub")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700
    assert list(config.parent.iterdir()) == [config]


def test_a_failed_writing_leaves_the_old_file_and_no_other(config, full_disk):
    contexts.store(Contexts({"hub": HUB}, "hub"))
    full_disk(1)

    with pytest.raises(ConfigError, match=f"{config} cannot be written: No space left"):
        contexts.store(Contexts({"other": OTHER}, "other"))

    assert contexts.load() == Contexts({"hub": HUB}, "hub")
    assert list(config.parent.iterdir()) == [config]


def test_a_file_that_others_can_read_is_refused(config):
    contexts.store(Contexts({"hub": HUB}, "hub"))
    config.chmod(0o640)

    with pytest.raises(ConfigError, match=f"chmod 600 {config}"):
        contexts.load()


@pytest.mark.parametrize("text", ["no = [", "[contexts.hub]\nurl = 'http://hub'\nkeys = 1", "contexts = 3"])
def test_a_file_of_another_form_is_refused(config, text):
    contexts.store(Contexts())
    config.write_text(text)

    with pytest.raises(ConfigError, match="is no file of `a2a login`"):
        contexts.load()


def test_the_current_context_is_used_without_anything_else(config):
    contexts.store(Contexts({"hub": HUB, "other": OTHER}, "other"))

    assert chosen(ConnectionOptions()) == OTHER
    assert chosen(ConnectionOptions(context="hub")) == HUB


def test_the_environment_goes_before_the_current_context(config, monkeypatch):
    contexts.store(Contexts({"hub": HUB}, "hub"))
    monkeypatch.setenv("A2A_URL", "http://third")
    monkeypatch.setenv("A2A_API_KEY", "k3")

    assert chosen(ConnectionOptions()) == Context(url="http://third", key="k3")
    assert chosen(ConnectionOptions(context="hub")) == HUB
    assert chosen(ConnectionOptions(url="http://fourth")) == Context(url="http://fourth", key="k3")
    assert chosen(ConnectionOptions(key_file="/k")) == Context(url="http://third", key_file="/k")


def test_a_stored_key_goes_to_no_other_url(config):
    contexts.store(Contexts({"hub": HUB}, "hub"))

    with pytest.raises(ConfigError, match="there is no key for http://evil"):
        chosen(ConnectionOptions(url="http://evil"))
    assert chosen(ConnectionOptions(url="http://hub/")) == HUB


def test_a_hub_with_two_keys_needs_a_choice(config, monkeypatch):
    alice, bob = Context(url="http://hub", key="a"), Context(url="http://hub", key="b")
    contexts.store(Contexts({"alice": alice, "bob": bob, "other": OTHER}, "other"))
    refusal = "http://hub has 2 contexts: alice, bob. Choose one with --context"

    with pytest.raises(ConfigError, match=refusal):
        chosen(ConnectionOptions(url="http://hub"))

    assert chosen(ConnectionOptions(context="bob")) == chosen(ConnectionOptions(url="http://hub", context="bob")) == bob
    assert chosen(ConnectionOptions(url="http://hub", key_file="/k")) == Context(url="http://hub", key_file="/k")
    contexts.store(Contexts({"alice": alice, "bob": bob}, "bob"))
    assert chosen(ConnectionOptions(url="http://hub")) == bob


def test_a_url_with_credentials_is_refused(config):
    with pytest.raises(ConfigError, match="the URL has credentials"):
        chosen(ConnectionOptions(url="http://me:secret@hub", key_file="/k"))


@pytest.mark.parametrize("content", [None, "", " \n", "k\u00e9y"])
def test_a_worker_without_a_key_in_its_file_does_not_start(a2a, tmp_path, content):
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content)

    done = a2a("work", "bob", "--url", a2a.url, "--key-file", str(path), "--", "cat")

    assert done.code == 1
    assert str(path) in done.err


def test_a_command_without_a_hub_says_how_to_name_one(config):
    with pytest.raises(ConfigError, match="no hub is named: run `a2a login`, or set A2A_URL and A2A_API_KEY"):
        chosen(ConnectionOptions())


def test_a_login_stores_the_accepted_key_and_commands_use_it(a2a, alice):
    done = a2a("login", a2a.url, "--name", "home", "--key-file", "-", typed=f"{key_of(alice)}\n")

    assert done.out.startswith(f"Logged in to {a2a.url} as agent alice@local. The context is home, in ")
    assert a2a("whoami", "-o", "json").json["agent"]["display"] == "alice@local"


def test_two_agents_at_one_hub_have_contexts_of_their_own(a2a, alice, bob, ada):
    for who in (alice, bob, ada):
        a2a("login", a2a.url, "--key-file", "-", typed=key_of(who))

    hub = a2a.url.removeprefix("http://")
    names = [f"{hub}/alice@local", f"{hub}/bob@local", f"{hub}/ada"]
    assert [row["name"] for row in a2a("context", "list", "-o", "jsonl").jsonl] == names
    assert a2a("whoami").rows[1] == ["person", "ada"]
    assert a2a("whoami", "--context", names[0]).rows[1] == ["agent", "alice@local"]


def test_a_login_with_a_wrong_key_stores_nothing(a2a, alice):
    refused = a2a("login", a2a.url, "--key-file", "-", typed="a2a_wrong\n")

    assert refused.code == 1
    assert f"{a2a.url} does not accept the key" in refused.err
    assert not a2a.config.exists()


def test_contexts_are_listed_chosen_shown_and_removed(a2a, alice, bob):
    secrets = [key_of(who) for who in (alice, bob)]
    for name, secret in zip(("one", "two"), secrets, strict=True):
        a2a("login", a2a.url, "--name", name, "--key-file", "-", typed=secret)

    listed = a2a("context", "list", "-o", "jsonl").jsonl
    a2a("context", "use", "one")
    shown = a2a("context", "show")
    a2a("context", "remove", "two")
    left = a2a("logout")

    assert [(row["name"], row["is_current"]) for row in listed] == [("one", False), ("two", True)]
    assert shown.rows[0] == ["context", "one"]
    assert left.out == "Forgot the context one. Its key is still valid.\n"
    assert a2a("context", "list").err == "No contexts. `a2a login` adds one.\n"
    everything = shown.out + str(listed)
    assert [secret for secret in secrets if secret in everything or secret[:20] in everything] == []


def test_an_unknown_context_is_named(a2a):
    assert (
        a2a("context", "use", "x").err
        == 'a2a: there is no context "x". There are: none. `a2a login --name x` makes it.\n'
    )


def test_a_rotated_key_replaces_the_stored_one(a2a, alice):
    a2a("login", a2a.url, "--name", "home", "--key-file", "-", typed=key_of(alice))
    before = a2a.config.read_text()

    rotated = a2a("key", "rotate", "-o", "json").json

    assert rotated["api_key"] in a2a.config.read_text()
    assert rotated["api_key"] not in before
    assert a2a("whoami").rows[1] == ["agent", "alice@local"]


def test_no_key_is_rotated_if_its_file_cannot_be_written(a2a, alice, full_disk):
    a2a("login", a2a.url, "--name", "home", "--key-file", "-", typed=key_of(alice))
    full_disk(1)

    refused = a2a("key", "rotate")

    assert refused.err == f"a2a: {a2a.config} cannot be written: No space left on device\n"
    assert refused.code == 1
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_new_key_that_could_not_be_stored_is_shown(a2a, alice, full_disk, tmp_path, form):
    a2a("login", a2a.url, "--name", "home", "--key-file", "-", typed=key_of(alice))
    full_disk(2)

    rotated = a2a("key", "rotate", "-o", form)

    new = tmp_path / "new.key"
    new.write_text(rotated.json["api_key"] if form == "json" else dict(rotated.rows)["api key"])
    assert rotated.code == 1
    assert f"the new key above is not stored: {a2a.config} cannot be written" in rotated.err
    assert "Stored the new key" not in rotated.err
    assert a2a("whoami", "--url", a2a.url, "--key-file", new).rows[1] == ["agent", "alice@local"]
