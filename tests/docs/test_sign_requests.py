"""The examples of docs/guides/sign-requests.md run against a hub as they stand."""

import json
import os
import re
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from mailbox.words import ed25519, signatures
from mailbox.words.ed25519 import MOST_AHEAD_MS, VALID_FOR_MS, statement
from tests.support import factories, pages
from tests.support.signing import Signer

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

PAGE = pages.page("docs/guides/sign-requests.md")


def example(language):
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return code


@pytest.fixture
def signer():
    return Signer(factories.agent("carol"))


def run(*words, cwd, **environment):
    ran = subprocess.run(words, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_example_in_python_receives(served_hub, signer, tmp_path):
    file = tmp_path / "carol.key"
    file.write_text(ed25519.seed_of(signer.key))

    answer = run(sys.executable, "-c", example("python"), cwd=tmp_path, HUB=served_hub.url, KEY_FILE=str(file))

    assert answer["kind"] == "a2a_task_opt"


def test_the_example_with_curl_and_openssl_reads_the_queue(served_hub, signer, tmp_path):
    pem = signer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    assert ed25519.public_of(ed25519.private_key(pem.decode())) == signer.pubkey

    answer = run("bash", "-euc", example("sh"), cwd=tmp_path, HUB=served_hub.url, PUBLIC=signer.pubkey)

    assert "code" not in answer


def test_the_page_shows_the_statement_and_the_limits_of_the_code():
    pubkey = re.findall(r"^pubkey: (\w+)$", PAGE, re.MULTILINE)[0]
    text = statement(hub="https://hub.example", display="carol@local", pubkey=pubkey, time_ms=1780000000000).decode()

    assert f"```text\n{text}\n```" in PAGE
    assert (signatures.LONGEST_LIFE, signatures.MOST_AHEAD) == (300, 30)
    assert (VALID_FOR_MS, MOST_AHEAD_MS) == (24 * 3_600_000, 30_000)
