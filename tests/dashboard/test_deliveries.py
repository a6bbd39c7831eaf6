import json
import re
from html import unescape
from uuid import uuid4

import pytest

from dashboard.templatetags import ops
from mailbox.access.callers import Role
from mailbox.background.courier import Courier
from mailbox.life import outbox, results, updates
from mailbox.life.delivery_slots import DeliverySlots
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import PushConfig, PushDelivery
from mailbox.words import redaction, tokens
from mailbox.words.conversation import Update
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks
from tests.support.markup import squeezed
from tests.support.webhook_rounds import leased, webhook

pytestmark = pytest.mark.django_db

MANY = "/ops/deliveries/resend/"
HOOK = "https://hooks.example.org/done?token=t0psecret"


def pending_callback(alice, bob, url=HOOK):
    """Resolve a task that calls back; return the delivery."""
    lease = factories.leased_task(alice, bob, callback_url=url, callback_secret="shh, a secret")
    results.post_result(bob, factories.result_envelope(lease.task))
    return PushDelivery.objects.get(task_uuid=lease.task.uuid)


def attempted(delivery, *outcomes):
    for outcome in outcomes:
        PushDelivery.objects.filter(pk=delivery.pk).update(next_attempt_at=delivery.created_at)
        (claimed,) = claim_callbacks(1)
        outbox.report(claimed, outcome)
    delivery.refresh_from_db()
    return delivery


def given_up(alice, bob, problem="the receiver answered 503: busy"):
    return attempted(pending_callback(alice, bob), *[DeliveryOutcome(status=503, problem=problem)] * 6)


def path(delivery):
    return f"/ops/deliveries/{delivery.delivery_id}/"


def test_the_list_shows_the_outcome_of_each_callback(ana, alice, bob):
    disabled = given_up(alice, bob)
    attempted(pending_callback(alice, bob), DeliveryOutcome(status=204))
    pending_callback(alice, bob)

    text = ana.get("/ops/deliveries/").text

    assert disabled.state == "disabled"
    assert "Failed" in text
    assert "503" in text
    assert "HTTP 503: busy" in text
    assert "none yet" in text
    assert str(disabled.task_uuid) in text


@pytest.mark.parametrize("place", ["", "page", ".csv", ".jsonl"])
def test_no_page_or_download_shows_a_callback_secret(ana, alice, bob, place):
    delivery = given_up(alice, bob, problem=f"no answer from {HOOK} in time")

    response = ana.get(path(delivery) if place == "page" else f"/ops/deliveries{place or '/'}")

    text = response.text if place in ("", "page") else b"".join(response).decode()
    assert "hooks.example.org/done?…" in text
    assert "t0psecret" not in text
    assert "shh" not in text
    assert delivery.sealed_secret not in text


def test_redaction_shortens_keys_anywhere_in_a_url():
    key = tokens.mint().key

    assert key not in redaction.url(f"https://example.org/{key}/done")
    assert redaction.text(f"refused by https://example.org/a?b={key}, said {key}").count("…") == 2


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("?state=disabled", 1),
        ("?q=state:pending", 1),
        ("?q=sender:alice", 2),
        ("?q=sender:bob", 0),
        ("?q=attempts:>5", 1),
        ("?q=age:<1h", 2),
    ],
)
def test_callbacks_are_filtered_by_state_and_query(ana, alice, bob, query, count):
    given_up(alice, bob)
    pending_callback(alice, bob)

    assert len(ana.get(f"/ops/deliveries/{query}").context["page"].items) == count


@pytest.mark.parametrize("query", ["state:lost", "words", "attempts:many", "task:7"])
def test_an_invalid_query_is_refused(ana, query):
    assert ana.get("/ops/deliveries/", {"q": query}).status_code == 400


def test_the_list_needs_few_queries_and_can_be_downloaded(ana, alice, bob, django_assert_max_num_queries):
    for _ in range(5):
        attempted(pending_callback(alice, bob), DeliveryOutcome(status=204))

    with django_assert_max_num_queries(7):
        ana.get("/ops/deliveries/?q=sender:alice")
    rows = [json.loads(line) for line in b"".join(ana.get("/ops/deliveries.jsonl")).decode().splitlines()]

    assert [row["last_status"] for row in rows] == [204] * 5


def test_a_disabled_callback_is_resent_once_with_a_reason(ana, alice, bob):
    delivery = given_up(alice, bob)
    form = {**fields_of(ana.get(path(delivery))), "reason": "receiver mended"}

    first, second = ana.post(path(delivery), form), ana.post(path(delivery), form)

    assert (first.status_code, second.status_code) == (303, 303)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.forgiven) == ("pending", 6)
    (event,) = factories.journal(Kind.PUSH_RESENT)
    assert (event.actor, event.fields["reason"]) == ("user:ana", "receiver mended")


def test_a_resend_without_a_reason_is_refused(ana, alice, bob):
    delivery = given_up(alice, bob)

    assert ana.post(path(delivery), {**fields_of(ana.get(path(delivery))), "reason": " "}).status_code == 422
    assert factories.journal(Kind.PUSH_RESENT) == []


def test_a_callback_that_another_person_sent_again_needs_a_second_look(ana, ben, alice, bob):
    delivery = given_up(alice, bob)
    late = {**fields_of(ben.get(path(delivery))), "reason": "receiver mended"}
    ana.post(path(delivery), {**fields_of(ana.get(path(delivery))), "reason": "receiver mended"})

    assert ben.post(path(delivery), late).status_code == 409
    assert "Try now" in ben.get(path(delivery)).text
    assert len(factories.journal(Kind.PUSH_RESENT)) == 1


def test_a_pending_callback_is_tried_now(ana, alice, bob):
    delivery = attempted(pending_callback(alice, bob), *[DeliveryOutcome(status=503)] * 4)
    listing = squeezed(ana.get("/ops/deliveries/").text)
    page = ana.get(path(delivery))

    response = ana.post(path(delivery), {**fields_of(page), "reason": "receiver mended"}, follow=True)

    assert "Try now" in listing
    assert "next automatic attempt:" in page.text
    assert "Sending now." in response.text
    assert claim_callbacks(1) != []


def test_selected_failed_callbacks_are_sent_again_with_one_reason_and_a_receipt(ana, alice, bob):
    failed, other = given_up(alice, bob), given_up(alice, bob)
    left = given_up(alice, bob)
    form = ana.get(MANY, {"delivery": [failed.delivery_id, other.delivery_id]})
    sent = {**fields_of(form), "delivery": [failed.delivery_id, other.delivery_id], "reason": "receiver mended"}

    response = ana.post(MANY, sent, follow=True)
    (receipt,) = map(unescape, re.findall(r'href="(/ops/audit/[^"]+)">Receipt', response.text))

    assert "<b>2</b> failed callbacks" in form.text
    assert "2 sent again" in response.text
    assert len(ana.get(receipt).context["page"].items) == 2
    assert {event.fields["reason"] for event in factories.journal(Kind.PUSH_RESENT)} == {"receiver mended"}
    left.refresh_from_db()
    assert left.state == "disabled"


def test_all_failed_callbacks_of_a_query_are_sent_again(ana, alice, bob, monkeypatch):
    monkeypatch.setattr("mailbox.life.outbox.MOST_RESENT", 2)
    for _ in range(3):
        given_up(alice, bob)
    pending_callback(alice, bob)

    form = ana.get(MANY, {"everything": "1", "q": "sender:alice"})

    assert form.text.count('name="delivery"') == 2
    assert "Select at least one" in ana.get(MANY, {"everything": "1", "q": "sender:bob"}).text
    assert ana.get(MANY, {"everything": "1", "q": "nonsense:1"}).status_code == 400
    assert ana.get(MANY, {"delivery": "7"}).status_code == 400


def test_a_callback_that_arrived_meanwhile_is_left_alone(ana, alice, bob):
    failed, other = given_up(alice, bob), given_up(alice, bob)
    ids = [failed.delivery_id, other.delivery_id]
    outbox.resend(factories.person("olga", Role.OPERATOR), other.delivery_id, reason="mended")

    done = outbox.resend_given_up(factories.person("otto", Role.OPERATOR), ids, reason="mended")

    assert (done.sent, done.left) == ([failed.delivery_id], [other.delivery_id])


def test_callbacks_without_a_reason_or_beyond_the_limit_are_not_sent_again(ana, alice, bob):
    failed = given_up(alice, bob)
    otto = factories.person("otto", Role.OPERATOR)

    with pytest.raises(InvalidRequestError):
        outbox.resend_given_up(otto, [failed.delivery_id], reason=" ")
    with pytest.raises(InvalidRequestError):
        outbox.resend_given_up(otto, [uuid4() for _ in range(outbox.MOST_RESENT + 1)], reason="mended")
    with pytest.raises(CapabilityMissingError):
        outbox.resend_given_up(factories.person("vera", Role.VIEWER), [failed.delivery_id], reason="mended")
    sent = {**fields_of(ana.get(MANY, {"delivery": failed.delivery_id})), "delivery": failed.delivery_id}
    assert ana.post(MANY, {**sent, "reason": ""}).status_code == 422
    assert factories.journal(Kind.PUSH_RESENT) == []


@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (f"no answer from {HOOK}: [Errno 111] Connection refused", None, "Connection refused"),
        (f"A2A: no answer from {HOOK}: [Errno 111] Connection refused", None, "Connection refused"),
        (f"no answer from {HOOK} within 10 s", None, "No answer within 10 s"),
        ("the receiver answered 503: busy", 503, "HTTP 503: busy"),
        ("", 204, "HTTP 204"),
        (
            "its secret was encrypted under another SECRET_KEY",
            None,
            "Its secret was encrypted under another SECRET_KEY",
        ),
    ],
)
def test_the_problem_of_an_attempt_is_told_in_words(problem, status, words):
    assert ops.in_words(problem, status) == words


def test_an_unknown_callback_has_no_page(ana):
    assert ana.get(f"/ops/deliveries/{uuid4()}/").status_code == 404


def test_a_viewer_sees_which_capability_a_resend_needs(vic, alice, bob):
    delivery = given_up(alice, bob)

    assert "needs capability a2a.push.resend" in vic.get("/ops/deliveries/").text
    assert "needs capability a2a.push.resend" in vic.get(path(delivery)).text
    assert 'name="reason"' not in vic.get(path(delivery)).text


@pytest.fixture
def event_given_up(alice, bob):
    """Return an event whose receiver failed at every attempt."""
    task = leased(alice, bob).task
    webhook(alice, task, HOOK, config_id="mine", token="t0ken-of-the-receiver")
    updates.post_updates(bob, task.uuid, [Update(message=factories.text("one"))])
    for _ in range(6):
        PushConfig.objects.update(next_attempt_at=task.sent_at)
        (claimed,) = Courier().claim(1, DeliverySlots())
        outbox.report(claimed, DeliveryOutcome(status=503, problem="the receiver answered 503: busy"))
    return PushDelivery.objects.get()


def test_the_pages_show_an_event_and_how_often_its_webhook_failed(ana, event_given_up):
    listed, page = ana.get("/ops/deliveries/?q=state:disabled").text, ana.get(path(event_given_up)).text
    task = ana.get(f"/ops/tasks/{event_given_up.task_uuid}/").text

    assert "event 3" in listed
    assert "event 3 of" in " ".join(page.split())
    assert "Send again" in page
    panel = task.partition('id="webhooks"')[2].partition("</section>")[0]
    assert "mine" in panel
    assert "disabled" in panel
    assert "event 2" in panel
    assert ">6<" in panel
    for text in (listed, page, task):
        assert "t0psecret" not in text
        assert "t0ken-of" not in text


def test_an_event_can_be_sent_again_and_is_then_pending(ana, event_given_up):
    ana.post(path(event_given_up), {**fields_of(ana.get(path(event_given_up))), "reason": "it is back"})

    event_given_up.refresh_from_db()
    assert event_given_up.shown_state == "pending"
    assert PushConfig.objects.get().disabled_at is None
    assert event_given_up.url.partition("?")[0] in ana.get("/ops/deliveries/?q=state:pending").text


def test_an_event_of_a_deleted_webhook_is_not_sent_again(ana, event_given_up):
    PushConfig.objects.all().delete()

    assert "Its webhook was deleted" in ana.get(path(event_given_up)).text
