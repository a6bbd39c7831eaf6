"""A task is of one caller at one agent: no caller without a key, and no other agent, finds it."""

import pytest

from agentcards import official_agents
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from tests.mailbox.dialects.a2a.doors import OfficialDoor, RpcDoor
from tests.mailbox.dialects.conformance.foreign_tasks import everything_stored, in_each_state, learns_nothing
from tests.support import factories
from tests.support.doors import fields_read_by

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize("has_key", [False, True], ids=["a caller without a key", "its sender at another agent"])
@pytest.mark.parametrize("door", [OfficialDoor, RpcDoor])
def test_a_foreign_task_is_answered_like_no_task(door, has_key, alice, bob, mallory, monkeypatch, settings):
    monkeypatch.setattr(official_agents, "KEPT_FOR", 3600)
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 0
    settings.A2A_ANONYMOUS_RATE_LIMIT_PER_MIN = 10_000
    factories.grant(mallory, "a2a.send.*")
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    tasks = in_each_state(alice, bob, **fields_read_by(door))
    stranger, agent = (door(alice), "mallory") if has_key else (door(None), "bob")
    requests = [one._replace(path=one.path.replace("/bob/", f"/{agent}/")) for one in door.of_tasks]
    before = everything_stored()

    assert [request for request in requests if not learns_nothing(stranger, request, tasks)] == []
    assert everything_stored() == before
