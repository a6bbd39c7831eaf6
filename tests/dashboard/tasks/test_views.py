import base64
import json
from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.life import leasing, replay, results, updates
from mailbox.models import ReplayEntry
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.conftest import path_of
from tests.dashboard.test_leases import aged
from tests.support import factories, talking
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

PNG = base64.b64encode(b"not really a picture").decode()
BLOCKS = [
    {"type": "text", "text": "first line\n  second <b>line</b>"},
    {"type": "json", "value": {"total": 2**60, "price": 12.5, "nested": [1, {"a": None}]}},
    {"type": "image", "data": PNG, "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
    {"type": "resource", "resource": {"uri": "file:///b", "blob": PNG, "mimeType": "text/html"}},
    {"type": "resource_link", "uri": "javascript:alert(1)", "name": "report"},
]


def test_a_task_page_describes_the_state_in_words(ana, alice, bob):
    lease = aged(factories.leased_task(alice, bob), minutes=41)

    text = " ".join(ana.get(path_of(lease.task)).text.split())

    assert "attempt 1 of 3 · stale for 36 m" in text


def test_states_are_listed_newest_first_with_actor_and_reason(ana, alice, bob, olga):
    began = timezone.now() - timedelta(minutes=30)
    with time_machine.travel(began, tick=False):
        lease = factories.leased_task(alice, bob)
    with time_machine.travel(began + timedelta(minutes=10), tick=False):
        updates.post_updates(bob, lease.task.uuid, [Update(progress=0.5, note="half")])
        repair.requeue(
            olga, lease.task.uuid, reason="pod killed, INC-4412", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED
        )
    with time_machine.travel(began + timedelta(minutes=15), tick=False):
        leasing.lease_tasks(bob)
        results.post_result(bob, factories.result_envelope(lease.task))

    page = ana.get(path_of(lease.task))

    cards = page.context["cards"]
    assert [card.state for card in cards] == ["ok", "in_flight", "queued", "in_flight", "queued"]
    assert [card.until and card.until - card.since for card in cards][1:4] == [
        timedelta(0),
        timedelta(minutes=5),
        timedelta(minutes=10),
    ]
    assert (cards[2].act.event.actor, cards[2].act.reason) == ("user:olga", "pod killed, INC-4412")
    assert [note.event.kind for note in cards[3].notes] == ["a2a_task_updated"]
    assert 'href="#attempt-2"' in page.text
    second, first = page.context["attempts"]
    assert (first.waited, first.ran, first.gap) == (timedelta(0), timedelta(minutes=10), timedelta(minutes=5))
    assert (second.waited, second.gap) == (timedelta(minutes=5), None)
    assert 'id="attempt-1"' in page.text


def test_each_kind_of_content_block_is_shown_in_its_own_way(ana, alice, bob):
    task = factories.resolved_task(alice, bob, content=BLOCKS).task

    text = ana.get(path_of(task)).text

    assert "first line\n  second &lt;b&gt;line&lt;/b&gt;</bdi></p>" in text
    assert f"&quot;total&quot;: {2**60},\n  &quot;price&quot;: 12.5," in text
    assert "Image: image/png" in text
    assert "20 bytes" in squeezed(text)
    assert "inside</pre>" in text
    assert 'href="javascript:' not in text
    assert "<img" not in text


@pytest.mark.parametrize(
    ("part", "kind", "content"),
    [
        ("intent", "text/plain; charset=utf-8", b"summarise the report"),
        ("metadata", "application/json; charset=utf-8", b"{}"),
        ("0", "text/plain; charset=utf-8", b"first line\n  second <b>line</b>"),
        ("2", "application/octet-stream", b"not really a picture"),
        ("4", "application/octet-stream", b"not really a picture"),
        ("5", "text/plain; charset=utf-8", b"javascript:alert(1)"),
    ],
)
def test_each_part_is_downloaded_exactly_and_cannot_run(ana, alice, bob, part, kind, content):
    task = factories.resolved_task(alice, bob, content=BLOCKS).task

    response = ana.get(path_of(task, f"parts/{part}"))

    assert (response["Content-Type"], response.content) == (kind, content)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"].startswith("attachment" if "octet" in kind else "inline")


def test_redacted_fields_are_hidden_on_the_page_and_in_downloads(ana, alice, bob, settings):
    settings.A2A_REDACTED_FIELDS = ["api_key", "door code"]
    content = [{"type": "json", "value": {"rooms": [{"doorCode": 7, "beds": 2**60}], "API-Key": {"id": "no-secret"}}}]
    lease = factories.leased_task(alice, bob, metadata={"x": {"api_key": "a secret"}})
    task = results.post_result(bob, factories.result_envelope(lease.task, content=content)).task

    shown = [ana.get(path_of(task, part)).text for part in ("", "parts/metadata", "parts/content", "parts/0")]

    assert not any("secret" in text or "code&quot;: 7" in text for text in shown)
    assert f"&quot;beds&quot;: {2**60}" in shown[0]
    assert json.loads(shown[3]) == {"rooms": [{"doorCode": "[redacted]", "beds": 2**60}], "API-Key": "[redacted]"}


@pytest.mark.parametrize("part", ["6", "error", "nothing", "999999999999999999999", "²"])
def test_an_unknown_part_is_not_found(ana, alice, bob, part):
    task = factories.resolved_task(alice, bob, content=BLOCKS).task

    assert ana.get(path_of(task, f"parts/{part}")).status_code == 404
    assert ana.get(f"/ops/tasks/{uuid4()}/parts/intent").status_code == 404


def test_a_task_page_shows_only_the_first_blocks_of_a_large_result(ana, alice, bob):
    many = [{"type": "text", "text": f"{number} {'x' * 3000}"} for number in range(60)]
    task = factories.resolved_task(alice, bob, content=many).task

    page = ana.get(path_of(task))

    assert len(page.content) < 150_000
    assert "10 more blocks" in page.text
    assert ana.get(path_of(task, "parts/59")).text == many[59]["text"]
    assert ana.get(path_of(task, "parts/content")).json() == many


def test_an_error_message_is_shown_and_downloaded_exactly(ana, alice, bob):
    task = factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="\n boom", content=[]).task

    assert ">\n\n boom</pre>" in ana.get(path_of(task)).text
    assert ana.get(path_of(task, "parts/error")).text == "\n boom"


def test_a_task_page_shows_its_cached_result_and_duplicates(ana, alice, bob, olga):
    promise = factories.idempotent("inv-7")
    lease = factories.leased_task(alice, bob, idempotency=promise)
    waiting = factories.sent_task(alice, bob, idempotency=promise)
    assert "Will be cached if ok; duplicates wait for it" in ana.get(path_of(lease.task)).text
    assert "waiting for the task with the same key" in ana.get(path_of(waiting)).text

    results.post_result(bob, factories.result_envelope(lease.task))

    page = ana.get(path_of(lease.task))
    assert "· 1 replay" in page.text
    assert [task.uuid for task in page.context["alike"]] == [waiting.uuid]
    assert "answered from the cache" in ana.get(path_of(waiting)).text

    replay.drop(olga, ReplayEntry.objects.get().pk, reason="changed")
    assert "Not cached (only ok results are) or dropped" in ana.get(path_of(lease.task)).text


def test_a_task_page_links_to_its_parent_children_and_tree(ana, alice, bob):
    parent = factories.sent_task(alice, bob, intent_text="plan the trip")
    child = factories.sent_task(alice, bob, parent=parent.uuid, intent_text="book a hotel")

    assert "book a hotel" in ana.get(path_of(parent)).text
    text = ana.get(path_of(child)).text
    assert f"/ops/tasks/{parent.uuid}/" in text
    assert f"/ops/trees/{parent.uuid}/" in text


def test_a_full_task_page_needs_few_queries_and_is_not_resent(ana, alice, bob, django_assert_max_num_queries):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"))
    for _ in range(12):
        factories.sent_task(alice, bob, idempotency=factories.idempotent("inv-7"), parent=lease.task.uuid)
    results.post_result(bob, factories.result_envelope(lease.task))

    with django_assert_max_num_queries(9):
        page = ana.get(path_of(lease.task))
    again = ana.get(path_of(lease.task), headers={"hx-request": "true", "x-seen": page.context["version"]})

    assert again.status_code == 204


def test_a_task_page_offers_its_id_and_commands_to_copy(ana, alice, bob):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"))

    text = ana.get(path_of(lease.task)).text

    assert 'data-copy="task-id"' in text
    assert f"/a2a/tasks/{lease.task.uuid}/entry" in text
    assert f"a2a task requeue {lease.task.uuid} --lease-id {lease.lease_id}" in text


@pytest.mark.parametrize(
    ("awaits", "state"), [("", "WORKING"), ("input", "INPUT_REQUIRED"), ("authorization", "AUTH_REQUIRED")]
)
def test_a_task_page_names_the_state_that_clients_see(ana, alice, bob, awaits, state):
    lease = factories.leased_task(alice, bob)
    if awaits:
        talking.asked(bob, lease, "Which nights?", awaits=awaits)

    page = ana.get(path_of(lease.task))
    answer = ana.get(path_of(lease.task, "a2a")).json()

    assert f"<code>TASK_STATE_{state}</code>" in page.text
    assert path_of(lease.task, "a2a") in page.text
    assert (answer["id"], answer["status"]["state"]) == (str(lease.task.uuid), f"TASK_STATE_{state}")


def test_the_task_for_clients_has_its_history_and_artifacts_without_secrets(ana, alice, bob, settings):
    settings.A2A_REDACTED_FIELDS = ["api_key"]
    lease = factories.leased_task(alice, bob, intent_text="find a hotel")
    talking.told(bob, lease.task, "I look")
    talking.made(bob, lease.task, {"type": "json", "value": {"api_key": "a secret", "eur": 412}})
    task = results.post_result(bob, factories.result_envelope(lease.task)).task

    answer = ana.get(path_of(task, "a2a"))

    told = answer.json()
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert told["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [one["parts"][0]["text"] for one in told["history"]][:2] == ["find a hotel", "I look"]
    assert told["artifacts"][0]["parts"][0]["data"] == {"api_key": "[redacted]", "eur": 412}
    assert ana.get(f"/ops/tasks/{uuid4()}/a2a").status_code == 404


def test_the_task_for_clients_shows_no_metadata_of_another_dialect_as_its_message(ana, alice, bob):
    task = factories.sent_task(alice, bob, dialect="yeoman", metadata={"message": {"content": "x", "metadata": 5}})

    told = ana.get(path_of(task, "a2a")).json()

    assert [one["parts"] for one in told["history"]] == [[{"text": task.intent_text}]]


def test_the_live_part_of_a_task_page_has_the_result(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    version = ana.get(path_of(lease.task)).context["version"]
    results.post_result(bob, factories.result_envelope(lease.task))

    live = ana.get(path_of(lease.task), headers={"hx-request": "true", "x-seen": version})

    assert 'id="result"' in live.text
