import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from a2a_hub_client import FakeHub, Hub
from a2a_hub_client.credentials import KeyFile, address, credentials
from a2a_hub_client.errors import UnreachableError
from tests.support.pauses import tick_at_once

pytestmark = pytest.mark.one_database


def header(found):
    return found.headers(method="GET", url="http://hub/", body=b"")


def test_the_environment_names_the_hub_and_the_key(monkeypatch):
    monkeypatch.setenv("A2A_URL", "http://hub:3000/")
    monkeypatch.setenv("A2A_API_KEY", "k1")

    assert address(None) == "http://hub:3000"
    assert header(credentials(None, None)) == {"Authorization": "Bearer k1"}


def test_arguments_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("A2A_URL", "http://other")
    monkeypatch.setenv("A2A_API_KEY", "other")

    assert address("https://hub") == "https://hub"
    assert header(credentials("k1", None)) == {"Authorization": "Bearer k1"}


def test_a_missing_hub_or_key_is_named(monkeypatch):
    monkeypatch.delenv("A2A_URL", raising=False)
    monkeypatch.delenv("A2A_API_KEY", raising=False)

    with pytest.raises(ValueError, match="A2A_URL"):
        address(None)
    with pytest.raises(ValueError, match="A2A_API_KEY"):
        credentials(None, None)


@pytest.mark.parametrize("key", ["", " ", "clé", "se\ncret", "secret ", "secret\n", "se cret", "se\tcret", "secret\0"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key):
    with pytest.raises(ValueError, match="cannot be sent") as refused:
        credentials(key, None)
    with pytest.raises(UnreachableError, match="cannot be sent") as refused_later:
        header(credentials(lambda: key, None))

    assert "cret" not in f"{refused.value}{refused_later.value}"


def test_a_worker_whose_key_cannot_be_sent_once_tries_again_and_does_not_show_it(caplog, monkeypatch):
    tick_at_once(monkeypatch)
    caplog.set_level("INFO")
    fake = FakeHub("alice", "bob")
    bad = ["", "se\ncret"]
    asked: list[str] = []

    def key():
        asked.append(bad.pop() if begun and bad else fake.key("bob"))
        return asked[-1]

    begun: list[int] = []
    with fake.hub("alice") as alice, Hub("http://fake", key, transport=fake.transport) as bob:
        sent = alice.send("bob", "paint")

        @bob.worker()
        def handle(task):
            begun.append(task.attempt)
            return "done"

        bob.run(max_tasks=1)

        assert sent.result(timeout=0).text == "done"

    assert (begun, {"", "se\ncret"} <= {*asked}) == ([1], True)
    assert "cret" not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "hub:3000",
        "ftp://hub",
        "file:///hub",
        "http://",
        "http:///x",
        "http://hub:x",
        "http://hub:99999",
        "http://[::1",
        "http://h b",
        "http://hub\n",
        "http://hub?x=1",
        "http://xn--999999999.hub.\u0080",
    ],
)
def test_a_url_of_another_kind_is_refused(url):
    with pytest.raises(ValueError, match="URL of a hub"):
        Hub(url, "k1")


@pytest.mark.parametrize(
    "url", ["HTTP://hub", "https://[::1]:3000/", "http://hub/at/a/path/", "http://b\u00fccher.example"]
)
def test_a_url_with_a_host_is_accepted(url):
    assert Hub(url, "k1").url == url.rstrip("/")


def test_a_signing_key_signs_and_excludes_a_key():
    key = Ed25519PrivateKey.generate()

    assert header(credentials(None, key)).keys() == {"Signature-Input", "Signature"}
    with pytest.raises(ValueError, match="not both"):
        credentials("k1", key)


def test_a_rolled_key_takes_effect_at_the_next_request(tmp_path):
    path = tmp_path / "key"
    path.write_text("k1\n")
    found = credentials(KeyFile(path), None)
    before = header(found)

    (tmp_path / "new").write_text("k22\n")
    (tmp_path / "new").replace(path)

    assert (before, header(found)) == ({"Authorization": "Bearer k1"}, {"Authorization": "Bearer k22"})
    path.unlink()
    assert header(found) == {"Authorization": "Bearer k22"}
