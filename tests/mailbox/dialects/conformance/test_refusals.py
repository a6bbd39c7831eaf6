"""A refused request changes nothing, and its error has the shape of the dialect."""

from contextlib import suppress
from uuid import uuid4

import pytest

from mailbox.models import Lease, Result, Task
from tests.mailbox.dialects.conformance.registry import doors_that, http_doors_that
from tests.support import factories
from tests.support.doors import Act, HubDoor, Refused, fields_read_by, with_value

pytestmark = pytest.mark.django_db

GRANT_IT = (
    'This requires capability "a2a.send.bob@local". Grant it with: a2a grant give mallory@local a2a.send.bob@local'
)
MALFORMED = {400, 422}


@doors_that(Act.ADDRESS)
def test_a_send_to_an_unknown_agent_is_refused(door, alice):
    with pytest.raises(Refused) as refusal:
        door(alice).send("x", to="nobody")

    assert refusal.value.status == 404
    assert not Task.objects.exists()


@doors_that(Act.DEFAULT)
def test_a_send_without_a_recipient_needs_a_default_agent(door, alice, bob):
    with pytest.raises(Refused) as refusal:
        door(alice).send("x")

    assert refusal.value.status == 404
    assert not Task.objects.exists()


@pytest.mark.usefixtures("default_agent")
@doors_that(Act.SEND, Act.AUTHORISE)
def test_a_send_without_a_grant_is_refused_with_the_command_that_grants_it(door, mallory):
    with pytest.raises(Refused) as refusal:
        door(mallory).send("x")

    assert (refusal.value.status, refusal.value.message) == (403, GRANT_IT)
    assert not Task.objects.exists()
    check = factories.last_event()
    assert (check.kind, check.fields["agent_id"]) == ("capability_check", "a2a-send:bob@local")
    assert check.fields["passed"] is False


@pytest.mark.usefixtures("default_agent")
@doors_that(Act.SEND)
def test_a_send_of_text_with_a_nul_is_refused(door, alice):
    with pytest.raises(Refused) as refusal:
        door(alice).send("a\0b")

    assert refusal.value.status in MALFORMED
    assert not Task.objects.exists()


@pytest.mark.usefixtures("default_agent")
@doors_that(Act.SEND)
@pytest.mark.parametrize("text", ["", " \n"], ids=["empty", "blank"])
def test_a_task_without_words_is_never_stored(door, alice, text):
    """A dialect refuses it, or puts other words of the request in their place."""
    with suppress(Refused):
        door(alice).send(text)

    assert not [task for task in Task.objects.all() if not task.intent_text.strip()]


@doors_that(Act.READ, Act.AUTHORISE)
def test_a_stranger_cannot_tell_a_foreign_task_from_an_absent_one(door, alice, bob, mallory):
    foreign, absent = factories.leased_task(alice, bob, **fields_read_by(door)).task.uuid, uuid4()
    HubDoor(bob).answer(foreign, "six words")
    stranger = door(mallory)

    refusals = []
    for task_id in (foreign, absent):
        with pytest.raises(Refused) as refusal:
            stranger.read(task_id)
        refusals.append((refusal.value.status, refusal.value.message.replace(str(task_id), "")))

    assert refusals[0] == refusals[1]
    assert refusals[0][0] == 404


@doors_that(Act.LEASE)
def test_a_stranger_leases_nothing(door, alice, bob, mallory):
    factories.sent_task(alice, bob)

    assert door(mallory).lease() is None
    assert not Lease.objects.exists()


@doors_that(Act.ANSWER, Act.AUTHORISE)
def test_a_stranger_cannot_answer_a_task(door, alice, bob, mallory):
    foreign, absent = factories.leased_task(alice, bob).task.uuid, uuid4()
    stranger = door(mallory)

    refusals = []
    for task_id in (foreign, absent):
        with pytest.raises(Refused) as refusal:
            stranger.answer(task_id, "mine")
        refusals.append((refusal.value.status, refusal.value.message.replace(str(task_id), "")))

    assert refusals[0] == refusals[1]
    assert not Result.objects.exists()
    assert Lease.objects.get().ended_at is None


@pytest.mark.one_database
@pytest.mark.usefixtures("default_agent")
@http_doors_that(Act.PARSE)
@pytest.mark.parametrize("text", [7, {"a": [1]}], ids=repr)
def test_a_send_of_a_text_that_is_none_is_refused(door, alice, text):
    with pytest.raises(Refused) as refusal:
        with_value(door(alice), door.text, text).send("x")

    assert refusal.value.status in MALFORMED
    assert not Task.objects.exists()


@pytest.mark.one_database
@pytest.mark.usefixtures("default_agent")
@http_doors_that(Act.TIMEOUT)
@pytest.mark.parametrize("value", [0, 1.5, "one more than the longest"])
def test_an_invalid_work_timeout_is_refused_by_its_name(door, alice, value):
    value = door.longest_ms + 1 if isinstance(value, str) else value
    with pytest.raises(Refused) as refusal:
        with_value(door(alice), door.timeout, value).send("x")

    assert refusal.value.status in MALFORMED
    assert door.timeout[-1] in refusal.value.message
    assert not Task.objects.exists()


@pytest.mark.usefixtures("default_agent")
@http_doors_that(Act.SEND, Act.AUTHENTICATE)
def test_a_person_cannot_send(door, olga):
    with pytest.raises(Refused) as refusal:
        door(olga).send("x")

    assert refusal.value.status == 403
    assert not Task.objects.exists()


@doors_that(Act.ANSWER, Act.AUTHORISE)
def test_an_answer_without_a_grant_is_refused(door, alice, mallory):
    task = factories.leased_task(alice, mallory).task

    with pytest.raises(Refused) as refusal:
        door(mallory).answer(task.uuid, "done")

    assert refusal.value.status == 403
    assert "a2a.respond.alice@local" in refusal.value.message
    assert not Result.objects.exists()


@doors_that(Act.READ, Act.OWN)
def test_a_read_shows_no_task_of_another_dialect(door, alice, bob):
    with pytest.raises(Refused) as refusal:
        door(alice).read(factories.sent_task(alice, bob).uuid)

    assert refusal.value.status == 404
