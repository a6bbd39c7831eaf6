"""Requests that no client sends by accident: refused or ignored, never a 500."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from mailbox.dialects.yeoman.messages import HANDLERS
from tests.support import factories, yeoman
from tests.support.yeoman import envelope

pytestmark = pytest.mark.one_database

KINDS = sorted(HANDLERS)
KEYS = ["task", "description", "title", "task_id", "task_ids", "tasks", "result", "status", "error", "name", "url"]
KEYS += ["capabilities", "callback_url", "callback_secret", "envelope", "agents", "context"]


@pytest.fixture
def peer(alice, bob, settings):
    factories.profile(bob, default_project="main")
    return yeoman.Peer(alice)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "value", [None, True, 10**400, 1e308, "", "\x7f", "x" * 40_000, [], [[[]]], {}, {"a": [1]}, [None], [{}], ["x"]]
)
def test_every_value_in_a_payload_is_answered(peer, kind, value):
    response = peer.receive(envelope(kind, dict.fromkeys(KEYS, value)))

    assert response.status_code in (200, 422)


@pytest.mark.django_db
def test_numbers_beyond_64_bits_are_echoed_exactly(peer):
    assert peer.send("a2a:heartbeat", timestamp=10**300)["timestamp"] == 10**300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


class Anything(TestCase):
    @given(kind=st.sampled_from(KINDS), payload=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5))
    def test_any_payload_of_any_type_is_answered(self, kind, payload):
        alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob")
        factories.profile(bob, default_project="main")

        response = yeoman.Peer(alice).receive(envelope(kind, payload))

        assert response.status_code in (200, 422), response.text
