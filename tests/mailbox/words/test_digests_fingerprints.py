import pytest

from mailbox.words import digests

ALIKE = [
    ("timeout after 30 s", "timeout after 1,500 s"),
    ("no answer of https://a.example/x?y=1.", "no answer of http://10.0.0.1:80/z"),
    ("task 0d9f6f3e-6f0c-4a38-9d5c-0123456789ab is gone", "task ffffffff-6f0c-4a38-9d5c-000000000000 is gone"),
    ("commit deadbeef42 broke", "commit 0123456789abcdef broke"),
    ('unknown key "colour"', 'unknown key "a, b"'),
    ("no such file: /var/lib/a/b.txt", "no such file: /tmp/x"),
    ("no such file: C:\\Users\\ana\\x.txt", "no such file: D:\\a\\b"),
    ("Disk  full\n at 7", "disk full at 8"),
]
APART = [
    ("disk full", "disk empty"),
    ("it can't read", "it won't read"),
    ("deadbeef", "facade"),
    ("and/or", "either"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_messages_that_differ_in_names_and_numbers_have_one_fingerprint(one, other):
    assert digests.fingerprint("bob@local", "error", one) == digests.fingerprint("bob@local", "error", other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_words_have_another_fingerprint(one, other):
    assert digests.fingerprint("bob@local", "error", one) != digests.fingerprint("bob@local", "error", other)


def test_each_agent_and_outcome_has_fingerprints_of_its_own():
    made = {digests.fingerprint(agent, outcome, "no") for agent in ("a@x", "b@x") for outcome in ("error", "expired")}

    assert len(made) == 4


def test_only_the_beginning_of_a_message_counts():
    start = "x " * digests.READ

    assert digests.pattern_of(f"{start}one") == digests.pattern_of(f"{start}other")
