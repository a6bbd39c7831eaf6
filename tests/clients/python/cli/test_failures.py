import pytest

from tests.support.ports import CLOSED

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]


def test_a_refusal_is_one_line_on_stderr_and_exits_with_1(a2a, bob):
    refused = a2a("agent", "pause", "bob", "--reason", "x", by=bob)

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("a2a: This requires capability ")
    assert refused.err.count("\n") == 1


def test_an_unreachable_hub_is_named_by_its_url(a2a, alice):
    url = f"http://127.0.0.1:{CLOSED}"

    refused = a2a("whoami", "--url", url, by=alice)

    assert refused.code == 1
    assert refused.err.startswith("a2a: cannot connect to the hub")
    assert f"({url}). Check the URL and that the hub runs" in refused.err


def test_a_wrong_key_says_how_to_store_another(a2a, alice, tmp_path):
    (tmp_path / "key").write_text("a2a_wrong")

    refused = a2a("whoami", "--key-file", tmp_path / "key", by=alice)

    assert refused.code == 1
    assert "`a2a login` stores another one." in refused.err


def test_a_missing_key_file_is_named(a2a, alice, tmp_path):
    refused = a2a("whoami", "--key-file", tmp_path / "none", by=alice)

    assert refused.err == f"a2a: {tmp_path / 'none'} cannot be read: No such file or directory\n"


@pytest.mark.parametrize("text", ["", "no key", "[]", "-----BEGIN PRIVATE KEY-----"])
def test_a_file_without_a_private_key_is_named(a2a, alice, tmp_path, text):
    (tmp_path / "key").write_text(text)

    refused = a2a("whoami", "--signing-key-file", tmp_path / "key", by=alice)

    assert refused.err == f"a2a: {tmp_path / 'key'} has no Ed25519 private key\n"


def test_invalid_fields_are_told(a2a, alice, bob):
    refused = a2a("task", "send", "bob", "", by=alice)

    assert refused.code == 1
    assert "intent_text" in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("task", "show", "zz"), '"zz" is no id'),
        (("task", "send", "bob"), "give an AGENT and a TEXT, or a --file"),
        (("task", "send", "bob", "x", "--deadline", "soon"), '"soon" is no time'),
        (("task", "watch", "abcd", "--timeout", "5x"), '"5x" is no length of time'),
        (("agent", "set-quotas", "bob", "queued"), '"queued" sets no quota'),
        (("lease", "list", "-o", "xml"), "xml"),
        (("nonsense",), "No such command"),
    ],
)
def test_wrong_usage_exits_with_2(a2a, alice, words, message):
    refused = a2a(*words, by=alice)

    assert (refused.code, refused.out) == (2, "")
    assert message in " ".join(refused.err.split())


def test_no_command_writes_the_key(a2a, alice):
    secret = a2a.key(alice)
    shown = [a2a(*words, by=alice) for words in (("whoami",), ("doctor",), ("task", "list"), ("key", "list"))]

    assert [one for one in shown if secret in one.out + one.err] == []
    assert {one.code for one in shown} == {0}
