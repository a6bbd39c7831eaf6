"""The error for a missing capability says how to get it."""

from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access import capabilities
from mailbox.access.callers import Role
from mailbox.access.requests import Request
from mailbox.words import errors
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db


def test_the_error_of_a_delegation_names_the_command_that_grants_it(bob, mallory):
    body = {"text": "@delegate bob: x", "source_job_id": "j"}

    answer = Api(mallory).post("/a2a/inboxes/mallory/delegate", body).json()

    assert answer["delegated"][0]["error"] == (
        'This requires capability "a2a.send.bob@local". Grant it with: a2a grant give mallory@local a2a.send.bob@local'
    )


def test_the_error_for_an_unknown_name_says_to_register_the_agent(mallory):
    refused = Api(mallory).post("/a2a/tasks", {"recipient": "nobody", "intent_text": "x"}).json()

    assert refused["message"] == (
        'This requires capability "a2a.send.nobody". '
        '"nobody" names no agent, or several: register the agent, or use its full name (name@host).'
    )


def test_the_error_for_an_action_of_people_names_the_groups(bob, mallory):
    refused = Api(mallory).post("/a2a/agents/bob/pause", {"reason": "x"}).json()

    assert refused["message"] == (
        'This requires capability "a2a.agents.pause". Use the API key of a person in the group operator or admin.'
    )


def test_the_error_for_an_action_of_agents_names_no_group(alice, bob):
    lease = factories.leased_task(alice, bob)
    body = {"task_id": str(lease.task.uuid), "lease_id": str(lease.lease_id), "status": "ok", "content": []}

    refused = Api(factories.person("ana", Role.OPERATOR)).post("/a2a/results", body).json()

    assert refused["message"] == 'This requires capability "a2a.respond.alice@local". Use the API key of an agent.'


def test_a_person_reads_that_agents_alone_hold_the_capability(alice):
    ana = factories.person("ana", Role.OPERATOR)

    with pytest.raises(errors.CapabilityMissingError) as refused:
        capabilities.require(ana, Request.to_respond(alice.agent, uuid4(), None), timezone.now())

    assert errors.text_for_person(refused.value).endswith("group operator; the capability is held by agents alone.")
