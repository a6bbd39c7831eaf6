"""A refusal tells the caller what would help."""

from __future__ import annotations

import pytest

from tests.support.api import Api

pytestmark = pytest.mark.django_db


def test_a_refused_delegation_names_the_command_that_grants_it(bob, mallory):
    body = {"text": "@delegate bob: x", "source_job_id": "j"}

    answer = Api(mallory).post("/a2a/inboxes/mallory/delegate", body).json()

    assert answer["delegated"][0]["error"] == (
        'this requires capability "a2a.send.bob@local". '
        "Grant it with: manage.py a2a grant mallory@local a2a.send.bob@local"
    )


def test_an_unknown_name_without_a_grant_is_refused_with_what_to_register(mallory):
    refused = Api(mallory).post("/a2a/tasks", {"recipient": "nobody", "intent_text": "x"}).json()

    assert refused["message"] == (
        'this requires capability "a2a.send.nobody". '
        'No agent alone is called "nobody" here: register it, or name it whole.'
    )


def test_an_action_of_people_is_refused_with_the_key_that_it_needs(bob, mallory):
    refused = Api(mallory).post("/a2a/agents/bob/pause", {"reason": "x"}).json()

    assert refused["message"] == (
        'this requires capability "a2a.agents.pause". It needs a key whose owner is in a group that holds it.'
    )
