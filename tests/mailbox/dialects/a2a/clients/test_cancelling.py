"""Official clients cancel tasks in each state. The holder learns of it and changes nothing any more."""

import pytest

from tests.support.clients.driven import RefusedError
from tests.support.clients.talk import EVERY

pytestmark = pytest.mark.parametrize("sdk", EVERY, ids=str)


def same_again(talk, cancelled):
    assert talk.cancel(cancelled.id) == cancelled
    assert talk.get(cancelled.id).state == "canceled"


def test_a_task_that_waits_for_an_answer_is_cancelled_once(talk):
    asked = talk.task("ask")

    cancelled = talk.cancel(asked.id)

    assert (cancelled.id, cancelled.state) == (asked.id, "canceled")
    assert cancelled.talk[:2] == asked.talk
    same_again(talk, cancelled)


def test_the_holder_of_a_cancelled_task_learns_of_it(talk, stage):
    stream = talk.stream("hold")
    (task, *_) = stream.until("working")
    held = stage.player.next_held()

    cancelled = talk.cancel(task.id)

    assert cancelled.state == "canceled"
    assert stream.rest()[-1].state == "canceled"
    refusals = [held.update({"message": "still here"}), held.result(status="ok")]
    assert [(answer.status_code, answer.json()["code"]) for answer in refusals] == [
        (409, "not_in_flight"),
        (409, "already_resolved"),
    ]
    same_again(talk, cancelled)


def test_a_queued_task_is_cancelled(talk, stage):
    lonely = stage.talk(talk.client, to="alice")
    queued = lonely.task("nobody comes", at_once=True)

    assert queued.state == "submitted"
    cancelled = lonely.cancel(queued.id)
    assert cancelled.state == "canceled"
    same_again(lonely, cancelled)


def test_a_finished_task_is_not_cancelled(talk):
    done = talk.task("complete")

    with pytest.raises(RefusedError) as refused:
        talk.cancel(done.id)

    assert refused.value.name == "TaskNotCancelableError"
    assert talk.get(done.id).state == "completed"
