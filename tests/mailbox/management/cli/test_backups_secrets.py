"""Secrets are read from stdin, files and the environment, and never from the arguments that process lists show."""

import io
import os
import sys

import pytest
from django.core.management.base import CommandError

from a2a_hub_client.credentials import KeyFile
from agentcards.models import AgentProfile

pytestmark = pytest.mark.django_db

URL = "https://user:pa55word@remote.example"


@pytest.mark.parametrize(
    "words",
    [
        ("profile", "bob", "--remote-url", URL),
        ("profile", "bob", "--remote-url", "https://hub.example/p/p_abcdefgh_0123"),
        ("discover", URL),
        ("invoke", "https://:k3y@remote.example", "hi"),
    ],
)
def test_an_argument_with_credentials_is_refused_and_not_repeated(a2a, bob, words):
    with pytest.raises(CommandError, match=r"process lists show.*give ") as refusal:
        a2a(*words)

    assert not any(secret in str(refusal.value) for secret in ("pa55word", "k3y", "0123", "sss"))
    assert not AgentProfile.objects.exists()


def test_a_remote_url_is_read_from_stdin(a2a, bob, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{URL}\n"))

    a2a("profile", "bob", "--remote-url", "-")

    assert AgentProfile.objects.get().remote_url == URL


def test_a_key_file_is_read_again_when_it_is_replaced(tmp_path):
    path = tmp_path / "key"
    path.write_text("first\n")
    key = KeyFile(path)
    assert key() == "first"

    (tmp_path / "new").write_text("second")
    os.replace(tmp_path / "new", path)
    assert key() == "second"

    path.unlink()
    assert key() == "second"
    path.write_text("")
    assert key() == "second"
