"""The commands that make, prove and change the keys that sign requests, and the worker that signs."""

import json
import stat

import pytest
from django.conf import settings
from django.core.management import CommandError
from django.test import Client

from mailbox.models import Agent, SigningKey
from mailbox.words import ed25519, signatures

pytestmark = pytest.mark.django_db


def get_signed(key):
    url = f"{settings.PUBLIC_URL}/a2a/queue"
    return Client(headers=signatures.sign(key, method="GET", url=url)).get("/a2a/queue").status_code


def test_a_key_is_made_proved_registered_changed_and_retired(tmp_path, a2a):
    first, second, proof = tmp_path / "first", tmp_path / "second", tmp_path / "proof"
    public = a2a("agents", "new-key", first)
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    key = ed25519.private_key(first.read_text())
    assert ed25519.public_of(key) == public

    proof.write_text(a2a("agents", "prove", "carol", "--key-file", first))
    a2a("agents", "add", "carol", "--pubkey", public, "--proof", proof)
    assert get_signed(key) == 200

    a2a("agents", "new-key", second)
    proof.write_text(a2a("agents", "prove", "carol", "--key-file", second, "--previous", first))
    assert "previous_signature" in json.loads(proof.read_text())
    assert "carol@local signs by" in a2a("agents", "set-key", "carol", "--proof", proof)
    assert (get_signed(ed25519.private_key(second.read_text())), get_signed(key)) == (200, 401)

    assert "retired" in a2a("agents", "retire-key", "carol")
    assert get_signed(ed25519.private_key(second.read_text())) == 401
    assert Agent.objects.get(display="carol@local").pubkey == public
    assert SigningKey.objects.count() == 2


def test_a_key_file_is_never_replaced(tmp_path, a2a):
    file = tmp_path / "key"
    file.write_text("precious")

    with pytest.raises(CommandError, match="exists"):
        a2a("agents", "new-key", file)
    assert file.read_text() == "precious"


@pytest.mark.parametrize("text", ["", "no key", "[]", "{}"])
def test_a_file_without_a_key_or_a_proof_is_refused(tmp_path, a2a, text, alice):
    file = tmp_path / "file"
    file.write_text(text)

    for words in (["prove", "alice", "--key-file", file], ["set-key", "alice", "--proof", file]):
        with pytest.raises(CommandError):
            a2a("agents", *words)
