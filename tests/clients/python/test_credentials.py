from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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


@pytest.mark.parametrize("key", ["", " ", "clé", "a\nb"])
def test_a_key_that_cannot_be_sent_is_refused(key):
    with pytest.raises(ValueError, match="cannot be sent"):
        credentials(key, None)


def test_a_url_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="http://"):
        address("hub:3000")


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
