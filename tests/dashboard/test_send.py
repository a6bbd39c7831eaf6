from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access.callers import Role
from mailbox.access.credentials.keys import store_key
from mailbox.life import leasing, operator_tasks, results
from mailbox.models import Result, Task
from mailbox.words.errors import CapabilityMissingError, UnknownTaskError
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PATH = "/ops/send/"


def filled(browser, **fields):
    return {**fields_of(browser.get(PATH)), "recipient": "bob", "intent_text": "look at INC-4412", **fields}


def send(browser, **fields):
    return browser.post(PATH, filled(browser, **fields), follow=True)


def answered(ana, bob):
    send(ana)
    (lease,) = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    return lease.task


def test_a_task_sent_by_hand_is_journalled_under_the_person(ana, bob):
    response = send(ana)

    task = Task.objects.get()
    assert response.redirect_chain == [(f"/ops/tasks/{task.uuid}/", 303)]
    assert "Sent to bob@local" in response.text
    assert (task.sender.display, task.source, task.intent_text) == ("operators@hub", "user", "look at INC-4412")
    (sent,) = factories.journal(Kind.TASK_SENT)
    assert (sent.actor, sent.source) == ("user:ana", "dashboard")
    assert leasing.lease_tasks(bob)[0].task == task


def test_every_field_of_the_form_reaches_the_task(ana, bob):
    parent = uuid4()

    send(
        ana,
        intent_text="first line\r\n  second line ",
        task_kind="booking",
        duplicate_safety="idempotent",
        idempotency_key="inv-7",
        deadline="2126-01-01T12:30",
        work_timeout="10m",
        parent=str(parent),
        content='[{"type": "json", "value": 1152921504606846976}]',
        metadata='{"ticket": "INC-4412"}',
    )

    task = Task.objects.get()
    assert task.intent_text == "first line\n  second line "
    assert (task.task_kind, task.duplicate_safety, task.idempotency_key) == ("booking", "idempotent", "inv-7")
    assert task.parent == parent
    assert task.deadline_ms == epoch_ms(datetime(2126, 1, 1, 12, 30, tzinfo=UTC))
    assert task.work_timeout == timedelta(minutes=10)
    assert "<dd>10 m per attempt</dd>" in squeezed(ana.get(f"/ops/tasks/{task.uuid}/").text)
    assert task.metadata == '{"ticket":"INC-4412","content":[{"type":"json","value":1152921504606846976}]}'


def test_a_deadline_is_read_in_the_persons_time_zone(ana, bob):
    ana.post("/ops/settings/", {"zone": "Asia/Tokyo"})

    send(ana, deadline="2126-01-01T12:30")

    assert Task.objects.get().deadline_ms == epoch_ms(datetime(2126, 1, 1, 3, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("recipient", "", "Choose an agent"),
        ("recipient", "nobody", "No agent named"),
        ("recipient", "a b", "invalid AgentId.display"),
        ("intent_text", "  \n ", "must not be empty"),
        ("task_kind", "x" * 501, "longer than 500"),
        ("duplicate_safety", "idempotent", "go together"),
        ("idempotency_key", "inv-7", "go together"),
        ("deadline", "tomorrow", "Enter a time"),
        ("work_timeout", "soon", "Enter a duration"),
        ("work_timeout", "0s", "Enter a duration"),
        ("parent", "7f3c", "Enter a full task ID"),
        ("content", "{", "not JSON"),
        ("content", "{}", "Enter an array"),
        ("content", '[{"type": "video"}]', "content.0.type"),
        ("metadata", "[]", "Enter an object"),
        ("metadata", '{"a": 1, "a": 2}', "duplicate key"),
    ],
)
def test_an_invalid_field_is_explained_and_the_form_keeps_its_text(ana, bob, field, value, message):
    response = send(ana, **{"task_kind": "booking", field: value})

    assert response.status_code == 422
    assert message in response.text
    assert "Nothing was sent" in response.text
    assert "look at INC-4412" in response.text or field == "intent_text"
    assert 'value="booking"' in response.text or field == "task_kind"
    assert not Task.objects.exists()


def test_a_form_sent_twice_sends_one_task(ana, bob):
    form = filled(ana)

    first, second = ana.post(PATH, form), ana.post(PATH, form)

    assert (first.status_code, first["Location"]) == (second.status_code, second["Location"])
    assert Task.objects.count() == 1
    assert ana.post(PATH, {**form, "intent_text": "something else"}).status_code == 409


@pytest.mark.parametrize("token", ["", "junk", "\0", None])
def test_a_form_with_a_bad_token_sends_nothing_and_gets_a_new_token(ana, bob, token):
    typed = filled(ana, form_token=token)
    refused = ana.post(PATH, {name: value for name, value in typed.items() if value is not None})
    anew = fields_of(refused)["form_token"]

    assert refused.status_code == 422
    assert 'role="alert">Nothing was sent. The form was incomplete.' in squeezed(refused.text)
    assert "look at INC-4412</textarea>" in refused.text
    assert not Task.objects.exists()
    ana.post(PATH, {**typed, "form_token": anew})
    assert str(Task.objects.get().uuid) == anew


def test_a_recipient_without_a_grant_to_answer_is_reported(ana, bob, mallory):
    assert "allowed to answer yet" not in send(ana).text

    text = send(ana, recipient="mallory").text

    assert "a2a grant give mallory@local a2a.respond.operators@hub" in text


def test_the_form_is_filled_in_from_url_parameters(ana, bob):
    text = ana.get(PATH, {"recipient": "bob@local", "intent_text": "<b>again</b>"}).text

    assert 'value="bob@local"' in text
    assert "&lt;b&gt;again" in text


def test_a_person_acknowledges_a_result_once_on_the_task_page(ana, bob):
    task = answered(ana, bob)
    path = f"/ops/tasks/{task.uuid}/"
    assert "Mark as read" in ana.get(path).text
    assert "done" in ana.get(path).text

    for _ in range(2):
        assert "Marked as read." in ana.post(f"{path}read/", follow=True).text

    assert Result.objects.get().delivery == "acked"
    assert len(factories.journal(Kind.RESULT_ACKED)) == 1
    assert factories.journal(Kind.RESULT_ACKED)[0].actor == "user:ana"
    assert "Mark as read" not in ana.get(path).text


def test_a_person_cannot_acknowledge_a_result_for_an_agent(ana, alice, bob):
    task = factories.resolved_task(alice, bob).task

    assert ana.post(f"/ops/tasks/{task.uuid}/read/").status_code == 404
    assert Result.objects.get().delivery == "pending"
    assert "Mark as read" not in ana.get(f"/ops/tasks/{task.uuid}/").text


def test_a_viewer_may_neither_send_nor_acknowledge(vic, bob):
    viewer = factories.person("victor", Role.VIEWER)

    page = squeezed(vic.get(PATH).text)
    assert "This needs the capability <code>a2a.send</code>" in page
    assert "<textarea" not in page
    with pytest.raises(CapabilityMissingError):
        operator_tasks.send_task(viewer, factories.task_envelope(bob))
    with pytest.raises(CapabilityMissingError):
        operator_tasks.acknowledge(viewer, uuid4())
    assert not Task.objects.exists()


def test_a_grant_of_the_operators_agent_does_not_extend_to_people(bob):
    factories.grant(operator_tasks._as_operators(factories.person("olga", Role.OPERATOR)), "a2a.send.*")

    with pytest.raises(CapabilityMissingError):
        operator_tasks.send_task(factories.person("victor", Role.VIEWER), factories.task_envelope(bob))


def test_acknowledging_an_unknown_task_is_refused():
    with pytest.raises(UnknownTaskError):
        operator_tasks.acknowledge(factories.person("olga", Role.OPERATOR), uuid4())


@pytest.mark.parametrize("display", ["operators@hub", "Operators@hub"])
def test_a_form_cannot_send_while_another_program_may_act_as_the_operators(ana, bob, display):
    taken = factories.AgentFactory.create(display=display)
    store_key(timezone.now(), agent=taken)

    response = send(ana)

    assert response.status_code == 409
    assert "manage.py a2a agents reclaim operators@hub" in response.text
    assert not Task.objects.exists()
