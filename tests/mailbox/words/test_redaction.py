"""The URLs that count as secrets."""

import pytest

from mailbox.words.redaction import has_credentials

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://hub.example/agents/bob@local/", False),
        ("https://hub.example/x?to=bob@local", False),
        ("https://user@hub.example/", True),
        ("https://user:word@hub.example/agents/bob@local/", True),
        ("user:word@hub.example", True),
        ("https://user:word@hub.example", True),
        ("https://hub.example", False),
    ],
)
def test_an_at_sign_counts_before_the_path_alone(url, expected):
    assert has_credentials(url) == expected
