from __future__ import annotations

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from a2a_hub_client import Hub, WorkerFailedError
from a2a_hub_client.credentials import KeyFile, address, credentials

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
    with pytest.raises(ValueError, match="cannot be sent") as refused_later:
        header(credentials(lambda: key, None))

    assert "cret" not in f"{refused.value}{refused_later.value}"


def test_a_key_that_cannot_be_sent_ends_a_run_and_is_not_shown():
    keys = ["secret", "secret", "se\ncret"]
    me = {"kind": "a2a_me", "agent": {"display": "bob@hub", "pubkey": "P"}, "person": None}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={**me, "leases": list[str](), "refused": []}))
    hub = Hub("http://hub", lambda: keys.pop(0), transport=transport)
    hub.worker(resume="none")(lambda task: None)

    with pytest.raises(WorkerFailedError, match="ValueError: the key is empty") as failed:
        hub.run()

    assert "cret" not in str(failed.value)


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
