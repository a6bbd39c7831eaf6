"""The conversation and the open question of a task on its page."""

import re

import pytest

from dashboard.tasks import conversation
from mailbox.life import leasing, results
from mailbox.models import Task
from mailbox.words.conversation import Details
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of, path_of
from tests.support import factories, talking
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def shown(page):
    return [(str(one.by), one.turn, [part.text for part in one.parts]) for one in page.context["talk"].sayings]


def test_the_conversation_shows_both_sides_in_order_with_turns(ana, talk):
    page = ana.get(path_of(talk))

    assert shown(page) == [
        ("bob@local", None, ["I look", "40 %"]),
        ("bob@local", None, ["Which nights?"]),
        ("alice@local", 2, ["12 to 15 June"]),
    ]
    text = squeezed(page.text)
    assert (
        text.index("find a hotel</bdi></p>")
        < text.index("I look")
        < text.index("Which nights?")
        < text.index("turn 2 ·")
    )
    assert "2 messages from the sender" in text


def test_the_states_name_the_question_and_its_answer(ana, talk):
    cards = ana.get(path_of(talk)).context["cards"]

    assert [card.state for card in cards] == ["in_flight", "queued", "interrupted", "in_flight", "queued"]
    assert (cards[1].act.what, cards[2].act.event.kind) == ("answered the question", Kind.TASK_ASKED)


def test_words_of_a_sender_who_was_not_asked_change_no_state(ana, alice, lease):
    talking.said(alice, lease.task, "also breakfast")

    cards = ana.get(path_of(lease.task)).context["cards"]

    assert [card.state for card in cards] == ["in_flight", "queued"]
    assert [note.what for note in cards[0].notes] == ["sent another message"]


@pytest.mark.parametrize(
    ("awaits", "words"), [("input", "bob@local asks alice@local"), ("authorization", "needs authorization from")]
)
def test_an_interrupted_task_says_what_is_asked_of_its_sender(ana, bob, lease, awaits, words):
    task = talking.asked(bob, lease, "Which <b>nights</b>?", awaits=awaits)

    page = ana.get(path_of(task))

    text = re.sub(r"<[^>]+>", "", squeezed(page.text))
    assert words in " ".join(text.split())
    assert "Which &lt;b&gt;nights&lt;/b&gt;?" in page.text
    assert "Only <bdi>alice@local</bdi> can answer" in squeezed(page.text)
    assert page.context["state"] == "interrupted"
    assert ("continue once it is authorized" in page.text) is (awaits == "authorization")
    assert "/requeue/" not in page.text


def test_a_question_without_words_is_shown_as_such(ana, bob, lease):
    page = ana.get(path_of(talking.asked(bob, lease)))

    assert "The question has no text." in page.text
    assert "No text</p>" in squeezed(page.text)


def test_the_details_of_a_direct_answer_point_to_its_words_in_the_result(ana, bob, lease):
    details = Details(metadata={"model": "m-1"})
    results.post_result(bob, factories.result_envelope(lease.task, direct=True, details=details))

    text = ana.get(path_of(lease.task)).text

    assert "Text in the result" in text
    assert "No text" not in text
    assert "m-1" in text


def test_a_viewer_cannot_force_an_error_on_a_question(vic, bob, lease):
    task = talking.asked(bob, lease, "Which nights?")

    text = squeezed(vic.get(path_of(task)).text)

    assert 'aria-disabled="true" title="needs capability a2a.repair.force_error"' in text
    assert f'href="/ops/leases/{lease.lease_id}/force-error/"' not in text


def forced(browser, lease, **fields):
    """Force an error by the form of the lease that ended with a question."""
    at = f"/ops/leases/{lease.lease_id}/force-error/"
    filled = {**fields_of(browser.get(at)), "reason": "the sender is gone, INC-7", "message": "", **fields}
    return browser.post(at, filled)


def test_an_operator_ends_an_interrupted_task_by_an_error(ana, bob, lease):
    task = talking.asked(bob, lease, "Which nights?")

    response = forced(ana, lease)

    task.refresh_from_db()
    assert (response.status_code, task.outcome, task.awaits) == (303, Task.Outcome.ERROR, None)
    (applied,) = factories.journal(Kind.REPAIR_APPLIED)
    assert applied.fields["lease_id"] == str(lease.lease_id)


def test_the_form_to_force_an_error_on_an_interrupted_task_names_its_last_holder(ana, bob, lease):
    path = f"/ops/leases/{lease.lease_id}/force-error/"
    held = ana.get(path).text
    talking.asked(bob, lease, "Which nights?")
    asked = ana.get(path).text

    assert ("<dt>Holder</dt>" in held, "Nobody holds this task" in held) == (True, False)
    assert ("<dt>Holder</dt>" in asked, "Nobody holds this task" in asked) == (False, True)
    assert "<dt>Last holder</dt> <dd> <bdi>bob@local</bdi>" in squeezed(asked)


@pytest.mark.parametrize("leased", [False, True])
def test_a_forced_error_spares_a_task_whose_question_was_answered(ana, alice, bob, lease, leased):
    task = talking.asked(bob, lease, "Which nights?")
    form = fields_of(ana.get(f"/ops/leases/{lease.lease_id}/force-error/"))
    talking.said(alice, task, "12 to 15 June")
    if leased:
        leasing.lease_task(bob, task.uuid)

    response = ana.post(f"/ops/leases/{lease.lease_id}/force-error/", {**form, "reason": "gone", "message": ""})

    task.refresh_from_db()
    assert (response.status_code, task.outcome) == (409, None)
    assert "Nothing was changed" in response.text


def test_a_requeue_of_an_interrupted_task_is_a_conflict_that_names_the_question(ana, bob, lease):
    talking.asked(bob, lease, "Which nights?")

    page = ana.get(f"/ops/leases/{lease.lease_id}/requeue/")

    assert page.status_code == 409
    assert "See the question" in page.text


def test_the_newest_messages_are_shown_and_the_earlier_ones_linked(ana, bob, lease, alice):
    for number in range(conversation.MESSAGES):
        talking.told(bob, lease.task, f"step {number}")
    talking.said(alice, lease.task, "hurry")
    talking.told(bob, lease.task, "last")

    page = ana.get(path_of(lease.task))
    first = page.context["talk"].earlier
    back = ana.get(path_of(lease.task, f"?before={first}"))

    assert len(shown(page)) == conversation.MESSAGES
    assert shown(page)[0][2] == ["step 2"]
    assert shown(page)[-2:] == [("alice@local", 2, ["hurry"]), ("bob@local", None, ["last"])]
    assert [texts for _, _, texts in shown(back)] == [["step 0"], ["step 1"]]
    assert 'id="payload"' in back.text
    assert "Newest messages" in back.text


def test_turns_are_counted_on_an_earlier_page_too(ana, alice, bob, lease):
    seqs = [talking.said(alice, lease.task, f"message {number}").journal_seq for number in range(2, 5)]

    back = ana.get(path_of(lease.task, f"?before={seqs[2]}"))

    assert [(turn, texts) for _, turn, texts in shown(back)] == [(2, ["message 2"]), (3, ["message 3"])]


@pytest.mark.parametrize("before", ["x", "-1", "0", "²", "9" * 30, "999999999"])
def test_an_odd_place_in_the_conversation_is_harmless(ana, talk, before):
    assert ana.get(path_of(talk, f"?before={before}")).status_code == 200


def test_hidden_payloads_hide_words_and_questions_too(ana, bob, lease):
    task = talking.asked(bob, lease, "Which nights?")
    ana.cookies["ops_hide_payloads"] = "on"

    text = squeezed(ana.get(path_of(task)).text)

    assert text.index("<summary>Show the conversation</summary>") < text.index("Which nights?")
    assert text.count("Which nights?") == 1


def test_a_page_with_a_conversation_needs_few_queries_and_is_resent_when_more_is_said(
    ana, alice, bob, talk, django_assert_max_num_queries
):
    talking.made(bob, talk, "one")
    results.post_result(bob, factories.result_envelope(talk))

    with django_assert_max_num_queries(14):
        page = ana.get(path_of(talk))
    with django_assert_max_num_queries(9):
        again = ana.get(path_of(talk), headers={"hx-request": "true", "x-seen": page.context["version"]})

    assert again.status_code == 204


def test_a_task_without_a_conversation_reads_none(ana, alice, bob, monkeypatch):
    monkeypatch.setattr(conversation, "talk", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(conversation, "made", lambda *_, **__: 1 / 0)

    page = ana.get(path_of(factories.resolved_task(alice, bob).task))

    assert page.status_code == 200
    assert "done</bdi></p>" in page.text


def test_closing_words_end_the_conversation(ana, alice, bob, lease):
    results.post_result(bob, factories.result_envelope(lease.task, message=[talking.block("gladly")]))

    page = ana.get(path_of(lease.task))

    assert shown(page) == [("bob@local", None, ["gladly"])]
    assert squeezed(page.text).index("gladly") < squeezed(page.text).index('id="result"')


def test_a_rejected_task_is_shown_as_rejected(ana, alice, bob, lease):
    refusal = {"status": "rejected", "content": [], "error_message": "not my trade"}
    results.post_result(bob, factories.result_envelope(lease.task, **refusal))

    page = ana.get(path_of(lease.task))

    assert [card.state for card in page.context["cards"]] == ["rejected", "in_flight", "queued"]
    assert page.context["state"] == "rejected"
    assert re.search(r'id="result".*?<span class="pill error">.*?Rejected', page.text, re.DOTALL)


def test_a_live_page_shows_a_new_message(ana, bob, talk):
    page = ana.get(path_of(talk))
    talking.told(bob, talk, "nearly done")

    again = ana.get(path_of(talk), headers={"hx-request": "true", "x-seen": page.context["version"]})

    assert "nearly done" in again.text
