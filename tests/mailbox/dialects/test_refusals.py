"""A refusal tells the caller what would help, in the same words through every door."""

from __future__ import annotations

import pytest

from tests.support import yeoman
from tests.support.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

REFUSAL = (
    'this requires capability "a2a.send.bob@local". Grant it with: manage.py a2a grant mallory@local a2a.send.bob@local'
)


def by_covenant(caller):
    return Api(caller).post("/a2a/tasks", {"recipient": "bob", "intent_text": "x"}).json()["message"]


def by_corvid(caller):
    return Api(caller).post("/a2a/tasks/send", {"params": {"message": "x"}}).json()["error"]


def by_marianne(caller):
    return Api(caller).post("/a2a/inboxes/bob/tasks", {"description": "x", "source_job_id": "j"}).json()["message"]


def by_marianne_delegation(caller):
    body = {"text": "@delegate bob: x", "source_job_id": "j"}
    answer = Api(caller).post("/a2a/inboxes/mallory/delegate", body).json()
    return answer["delegated"][0]["error"]


def by_yeoman(caller):
    return yeoman.Peer(caller).post({"title": "t", "description": "x"}, "/api/v1/tasks").json()["detail"]


def by_yeoman_envelope(caller):
    return yeoman.Peer(caller).post(yeoman.envelope("a2a:delegate", {"task": "x"})).json()["detail"]


DOORS = [by_covenant, by_corvid, by_marianne, by_marianne_delegation, by_yeoman, by_yeoman_envelope]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_missing_capability_is_refused_with_the_command_that_grants_it(door, mallory):
    assert door(mallory) == REFUSAL


def test_a_name_that_no_agent_has_is_refused_with_what_to_name(mallory):
    refused = Api(mallory).post("/a2a/tasks", {"recipient": "nobody", "intent_text": "x"}).json()

    assert refused["message"] == (
        'this requires capability "a2a.send.nobody". '
        'No agent alone is called "nobody" here: register it, or name it whole.'
    )


def test_an_action_that_no_grant_gives_is_refused_with_whose_key_it_needs(mallory):
    refused = Api(mallory).post("/a2a/agents/bob/pause", {"reason": "x"}).json()

    assert refused["message"] == (
        'this requires capability "a2a.agents.pause". It needs a key whose owner is in a group that holds it.'
    )
