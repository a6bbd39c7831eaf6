"""The fold: rows to events and views, over made-up rows."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailbox.words.a2a import v1_0
from mailbox.words.a2a.fold import (
    ArtifactRow,
    EventKind,
    EventPosition,
    Fold,
    LifeEnd,
    LifeMessage,
    LifeRow,
    derived_id,
)
from mailbox.words.kinds import Kind

TASK = UUID("00000000-0000-4000-8000-000000000001")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def text(words):
    return [{"type": "text", "text": words}]


class Life:
    """Adds rows to a fold; keeps the events as (position, JSON)."""

    def __init__(self):
        self.fold = Fold(TASK, "talk", LifeMessage(seq=1, message_id="m1", blocks=text("do it"), is_agents=False))
        self.events = []
        self.row(Kind.TASK_SENT)

    def row(self, kind, data=(), **beside):
        seq = self.fold.seq + 1
        if (message := beside.pop("message", None)) is not None:
            beside["message"] = LifeMessage(seq=seq, message_id=f"m{seq}", **message)
        row = LifeRow(seq=seq, kind=kind, at=NOON + timedelta(seconds=seq), data=dict(data), **beside)
        self.events += self.fold.add(row)
        return self

    def lease(self, attempt=1):
        return self.row(Kind.TASK_LEASED, {"attempt": attempt})

    def say(self, words, **more):
        return self.row(Kind.TASK_UPDATED, message={"blocks": text(words), **more})

    def make(self, words, artifact_id="report", **more):
        return self.row(Kind.TASK_UPDATED, produced=ArtifactRow(artifact_id=artifact_id, blocks=text(words), **more))

    def end(self, outcome="ok", kind=Kind.RESULT_POSTED, message=None, data=(), **more):
        return self.row(kind, data, message=message, ending=LifeEnd(outcome=outcome, **more))

    @property
    def json(self):
        return v1_0.task(self.fold.view())

    @property
    def changes(self):
        return [
            (str(event.position), short(v1_0.stream_response(TASK, "talk", event)))
            for event in self.events
            if event.kind != EventKind.TASK
        ]


def short(response):
    """Return an event as its state and words, or as its artifact and words."""
    ((kind, update),) = response.items()
    if kind == "artifactUpdate":
        artifact = update["artifact"]
        flags = [flag for flag in ("append", "lastChunk") if update.get(flag)]
        return [artifact["artifactId"], *(part["text"] for part in artifact["parts"]), *flags]
    status = update["status"]
    message = [part["text"] for part in status.get("message", {}).get("parts", [])]
    return [status["state"].removeprefix("TASK_STATE_"), *message]


def words(messages):
    return [part["text"] for message in messages for part in message["parts"]]


def test_a_new_task_is_submitted_with_its_message_as_history():
    assert Life().json == {
        "id": str(TASK),
        "contextId": "talk",
        "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-31T12:00:01.000Z"},
        "history": [
            {
                "messageId": "m1",
                "contextId": "talk",
                "taskId": str(TASK),
                "role": "ROLE_USER",
                "parts": [{"text": "do it"}],
            }
        ],
    }


def test_a_result_is_an_artifact_and_then_the_completed_status():
    life = Life().lease().end(blocks=text("done"))

    assert life.changes == [("2", ["WORKING"]), ("3.1", ["result", "done", "lastChunk"]), ("3", ["COMPLETED"])]
    assert [event.generation for event in life.events] == [1, 2, 3, 4]
    assert [event.is_final for event in life.events] == [False, False, False, True]
    assert life.json["artifacts"] == [{"artifactId": "result", "parts": [{"text": "done"}]}]


def test_a_result_stands_beside_artifacts_of_other_names_and_never_replaces_its_own_chunks():
    beside = Life().lease().make("x").end(blocks=text("done"))
    chunked = Life().lease().make("do", "result").make("ne", "result", append=True).end(blocks=text("done"))

    assert [one["artifactId"] for one in beside.json["artifacts"]] == ["report", "result"]
    assert [part["text"] for part in chunked.json["artifacts"][0]["parts"]] == ["do", "ne"]
    assert chunked.changes[-1] == ("5", ["COMPLETED"])


def test_the_message_of_the_status_stands_in_history_once_it_is_replaced():
    life = Life().lease().say("reading")
    assert (words(life.json["history"]), words([life.json["status"]["message"]])) == (["do it"], ["reading"])

    life.row(Kind.MESSAGE_SENT, {"turn": 2}, message={"blocks": text("hurry"), "is_agents": False})
    assert (words(life.json["history"]), words([life.json["status"]["message"]])) == (["do it", "hurry"], ["reading"])

    life.say("writing")
    assert words(life.json["history"]) == ["do it", "reading", "hurry"]


def test_progress_is_shown_by_its_note_or_its_percentage():
    life = Life().lease()
    life.row(Kind.TASK_UPDATED, message={"blocks": [], "progress": {"value": 0.4, "note": ""}})
    assert life.json["status"]["message"]["parts"] == [{"text": "40 %"}]
    assert life.json["status"]["message"]["metadata"] == {"progress": 0.4}
    event = v1_0.stream_response(TASK, "talk", life.events[-1])
    assert event["statusUpdate"]["metadata"] == {"progress": 0.4}

    life.row(Kind.TASK_UPDATED, message={"blocks": [], "progress": {"value": 0.5, "note": "half"}})
    assert life.changes[-1] == ("4", ["WORKING", "half"])


@pytest.mark.parametrize(("awaits", "state"), [("input", "INPUT_REQUIRED"), ("authorization", "AUTH_REQUIRED")])
def test_a_question_interrupts_and_its_answer_submits_again(awaits, state):
    life = Life().lease().row(Kind.TASK_ASKED, {"awaits": awaits}, message={"blocks": text("which?")})
    assert life.events[-1].is_interrupting
    life.row(Kind.MESSAGE_SENT, {"turn": 2, "answers": awaits}, message={"blocks": text("that"), "is_agents": False})
    life.lease(2)

    assert life.changes[1:] == [("3", [state, "which?"]), ("4", ["SUBMITTED"]), ("5", ["WORKING"])]
    assert words(life.json["history"]) == ["do it", "which?", "that"]
    assert life.json["metadata"] == {"a2a-hub": {"attempt": 2}}


def test_a_question_without_words_has_no_message():
    life = Life().lease().row(Kind.TASK_ASKED, {"awaits": "input"}, message={"blocks": []})

    assert life.changes[-1] == ("3", ["INPUT_REQUIRED"])
    assert words(life.json["history"]) == ["do it"]


@pytest.mark.parametrize("kind", [Kind.TASK_RELEASED, Kind.REPAIR_APPLIED])
def test_a_task_that_returns_to_the_queue_is_submitted_and_keeps_its_artifacts(kind):
    life = Life().lease().make("half").row(kind).lease(2).make("whole")

    assert life.changes[2:] == [("4", ["SUBMITTED"]), ("5", ["WORKING"]), ("6", ["report", "whole"])]
    assert life.json["artifacts"] == [{"artifactId": "report", "parts": [{"text": "whole"}]}]


@pytest.mark.parametrize(
    ("kind", "outcome", "state"),
    [
        (Kind.RESULT_POSTED, "error", "FAILED"),
        (Kind.RESULT_POSTED, "rejected", "REJECTED"),
        (Kind.REPAIR_APPLIED, "error", "FAILED"),
        (Kind.TASK_EXPIRED, "expired", "FAILED"),
        (Kind.TASK_CANCELLED, "cancelled", "CANCELED"),
    ],
)
def test_the_error_message_is_the_final_message(kind, outcome, state):
    life = Life().lease().end(outcome, kind, error_message="no luck")

    assert life.changes[-1] == ("3", [state, "no luck"])
    assert life.json["status"]["message"]["messageId"] == derived_id(TASK, 3)
    assert life.events[-1].is_final


def test_closing_words_follow_the_error_message_in_one_message():
    life = Life().lease().end("error", error_message="no luck", message={"blocks": text("sorry")})

    assert life.changes[-1] == ("3", ["FAILED", "no luck", "sorry"])
    assert life.json["status"]["message"]["messageId"] == "m3"
    assert words(life.json["history"]) == ["do it"]


def test_a_partial_result_says_so_in_metadata():
    assert Life().lease().end("partial", blocks=text("half")).json["metadata"] == {"a2a-hub": {"outcome": "partial"}}


def test_a_direct_answer_is_the_final_message_and_no_artifact():
    life = Life().lease().end(blocks=text("42"), is_direct=True)

    assert life.changes == [("2", ["WORKING"]), ("3", ["COMPLETED", "42"])]
    assert "artifacts" not in life.json
    message = v1_0.direct_message("talk", life.fold.view().status)
    assert (message["role"], message["contextId"], "taskId" in message) == ("ROLE_AGENT", "talk", False)


def test_rows_of_no_meaning_make_no_event():
    life = Life().row(Kind.TASK_WOKEN).lease().end().row(Kind.RESULT_DELIVERED).row(Kind.RESULT_ACKED)

    assert [position for position, _ in life.changes] == ["3", "4"]
    assert life.fold.view().position == (6, 2)


def test_the_history_length_keeps_the_newest_messages():
    view = Life().lease().say("one").say("two").say("three").fold.view()

    assert words(v1_0.task(view, history_length=2)["history"]) == ["one", "two"]
    assert "history" not in v1_0.task(view, history_length=0)
    assert len(v1_0.task(view, history_length=99)["history"]) == 3


def test_an_activated_extension_numbers_tasks_and_events():
    life = Life().lease().make("x")
    numbers = {"urn:a2a-hub:generation:v1": {"generation": 3}}

    assert v1_0.task(life.fold.view(), numbered=True)["metadata"] == numbers
    assert v1_0.stream_response(TASK, "talk", life.events[-1], numbered=True)["artifactUpdate"]["metadata"] == numbers


@pytest.mark.parametrize("written", ["7", "7.1"])
def test_the_id_of_an_event_is_read_as_it_was_written(written):
    assert str(EventPosition.parse(written)) == written


@pytest.mark.parametrize("malformed", ["", "x", "7.", "7.2", "-1", "1.1.1", "٣", "9999999999"])
def test_other_ids_are_no_positions(malformed):
    assert EventPosition.parse(malformed) is None


def test_times_are_cut_to_milliseconds():
    assert v1_0.timestamp(NOON + timedelta(microseconds=999_999)) == "2026-01-31T12:00:00.999Z"
