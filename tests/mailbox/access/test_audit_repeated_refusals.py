from dataclasses import replace

import pytest

from mailbox.access import audit
from mailbox.access.audit import RepeatedRefusals
from mailbox.access.credentials import authentication
from mailbox.journal import hub_entries
from mailbox.life import sending
from mailbox.models import AuditEvent
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import CapabilityMissingError, SenderMismatchError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(audit, "MOST_ROWS", 20)


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("mailbox.access.audit.time.monotonic", lambda: now[0])
    return now


def refused(caller, times):
    """Let the caller be refused, each time for another unknown agent."""
    for number in range(times):
        with pytest.raises(CapabilityMissingError):
            sending.send_task(caller, TaskEnvelope(recipient=AgentRef(f"a{number}@local"), intent_text="do"))


def checks():
    return len(factories.journal("capability_check"))


def counted():
    return [(row.actor, row.fields) for row in factories.journal("a2a_refusals_repeated")]


@pytest.mark.usefixtures("clock")
def test_a_minute_has_few_rows_of_one_actor_s_refusals(mallory):
    refused(mallory, 50)

    assert (checks(), counted()) == (20, [])


def test_the_rest_of_a_minute_has_one_row_with_its_number(mallory, clock):
    refused(mallory, 50)
    clock[0] += 60
    audit.note_repeated_refusals()

    row = {"kind": "capability_check", "action": "a2a.send", "count": 30}
    assert counted() == [("mallory@local", row)]


def test_the_next_minute_has_its_rows_again(mallory, clock):
    refused(mallory, 25)
    clock[0] += 60
    refused(mallory, 25)

    assert checks() == 40
    assert [row["count"] for _, row in counted()] == [5]


def test_a_minute_with_few_refusals_has_no_row_of_their_number(mallory, clock):
    refused(mallory, 20)
    clock[0] += 60
    audit.note_repeated_refusals()

    assert (checks(), counted()) == (20, [])


@pytest.mark.usefixtures("clock")
def test_each_actor_and_each_kind_of_refusal_is_counted_by_itself(mallory, bob):
    refused(mallory, 25)
    refused(bob, 5)
    envelope = TaskEnvelope(recipient=AgentRef("bob@local"), sender=AgentRef("bob@local"), intent_text="do")
    with pytest.raises(SenderMismatchError):
        sending.send_task(mallory, envelope)

    assert checks() == 25
    assert len(factories.journal("a2a_sender_mismatch")) == 1


def test_an_authentication_writes_the_rows_that_are_due(alice, mallory, clock):
    refused(mallory, 21)
    clock[0] += 60

    authentication.authenticate(factories.key_of(alice), source=AuditEvent.Source.API)

    assert len(counted()) == 1


def test_invented_actors_take_no_more_memory_than_the_most_remembered(mallory, clock, monkeypatch):
    monkeypatch.setattr(audit, "MOST_REMEMBERED", 3)
    refusals = RepeatedRefusals()

    for number in range(10):
        refusals.admits(replace(mallory, name=f"m{number}@local"), hub_entries.QuotaExceededEntry("queued", "m", 1))
        refusals.due()

    assert len(refusals._minutes) == 3
