"""The stream of a task: attempts, messages and artifacts in the order of time, and their words in its history."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from dashboard.tasks import conversation
from mailbox.life import leasing, results, updates
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.conversation import Update
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def steps(page):
    """Return each step of the stream by its kind and its subject."""
    found = []
    for step in page.context["stream"]:
        attempt = step.began or step.ended
        kind = "began" if step.began else "ended" if step.ended else "said" if step.message else "made"
        found.append((kind, attempt.lease.attempt if attempt else (step.message or step.made).parts[0].text))
    return found


@pytest.fixture
def requeued(alice, bob, olga):
    """A task that was lost in its first attempt, after some words, and answered in its second."""
    began = timezone.now() - timedelta(minutes=30)
    with time_machine.travel(began, tick=False):
        lease = factories.leased_task(alice, bob, intent_text="find a hotel")
    with time_machine.travel(began + timedelta(minutes=1), tick=False):
        talking.told(bob, lease.task, "I look")
    with time_machine.travel(began + timedelta(minutes=10), tick=False):
        risk = DuplicateRisk.OPERATOR_ACCEPTED
        repair.requeue(olga, lease.task.uuid, reason="pod killed, INC-4412", duplicate_risk=risk)
    with time_machine.travel(began + timedelta(minutes=15), tick=False):
        leasing.lease_tasks(bob)
    with time_machine.travel(began + timedelta(minutes=16), tick=False):
        talking.made(bob, lease.task, "three offers")
    with time_machine.travel(began + timedelta(minutes=17), tick=False):
        return results.post_result(bob, factories.result_envelope(lease.task)).task


def test_attempts_divide_the_stream_and_name_who_ended_them(ana, requeued):
    page = ana.get(path_of(requeued))

    assert steps(page) == [
        ("began", 1),
        ("said", "I look"),
        ("ended", 1),
        ("began", 2),
        ("made", "three offers"),
    ]
    text = squeezed(page.text)
    assert "after 10 m by <bdi>user:olga</bdi>, <q><bdi>pod killed, INC-4412</bdi></q>" in text
    assert text.index("find a hotel</bdi></p>") < text.index("I look") < text.index("three offers")
    assert text.index("three offers") < text.index('id="result"')


def test_an_older_page_has_the_attempts_of_its_time_and_no_artifacts(ana, alice, bob, requeued, monkeypatch):
    monkeypatch.setattr(conversation, "MESSAGES", 1)
    task = factories.leased_task(alice, bob).task
    talking.told(bob, task, "one")
    talking.made(bob, task, "an offer")
    talking.told(bob, task, "two")

    newest = ana.get(path_of(task))
    back = ana.get(path_of(task, f"?before={newest.context['talk'].earlier}"))

    assert ("said", "two") in steps(newest)
    assert ("made", "an offer") in steps(newest)
    assert ("began", 1) not in steps(newest)
    assert steps(back) == [("began", 1), ("said", "one")]


def test_the_history_has_the_words_of_a_message_unless_payloads_are_hidden(ana, bob, lease):
    talking.told(bob, lease.task, "Four of five guests liked it.", progress=0.5)

    (note,) = ana.get(path_of(lease.task)).context["cards"][0].notes
    assert (note.what, note.reason) == ("posted an update", "Four of five guests liked it.")

    ana.cookies["ops_hide_payloads"] = "on"
    page = ana.get(path_of(lease.task))
    assert page.context["cards"][0].notes[0].reason == ""
    assert "liked it" not in page.text.split("<summary>Show the conversation</summary>")[0]


def test_long_words_are_folded_and_short_ones_are_not(ana, bob, lease):
    talking.told(bob, lease.task, "word " * 300)
    talking.told(bob, lease.task, "short")

    text = squeezed(ana.get(path_of(lease.task)).text)

    assert '<p class="words"><bdi>short</bdi></p>' in text
    assert "…</bdi></summary>" in text
    assert text.count("<summary><bdi>word ") == 1


def test_a_note_before_any_progress_is_shown_without_a_share(ana, bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(progress=0, note="submitted to far.example as 7")])

    text = squeezed(ana.get(path_of(lease.task)).text)

    assert '<progress max="100" value="0" aria-label="Progress"></progress> <bdi>submitted to far.example as 7' in text
