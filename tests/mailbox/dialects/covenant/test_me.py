"""``GET /a2a/me`` tells a program whose key it has."""

import pytest

from mailbox.access.callers import Role
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db


def test_an_agent_reads_its_whole_name(bob):
    assert Api(bob).get("/a2a/me").json() == {
        "kind": "a2a_me",
        "agent": {"display": "bob@local", "pubkey": bob.agent.pubkey},
        "person": None,
        "role": None,
    }


def test_a_person_reads_name_and_role():
    answer = Api(factories.person("olga", Role.OPERATOR)).get("/a2a/me")

    assert answer.json() == {"kind": "a2a_me", "agent": None, "person": "olga", "role": "operator"}


def test_a_parameter_is_refused(bob):
    assert error_of(Api(bob).get("/a2a/me?name=bob")) == (400, "invalid_request")
