import json
import threading

import pytest

from tools.proof.history import History, Operation, Try

pytestmark = pytest.mark.one_database


def operation(request_id: str, verb: str = "send") -> Operation:
    return Operation(verb=verb, actor="a@b", request_id=request_id, route="POST /a2a/tasks", dialect="mailbox")


def answered(history: History, request_id: str, *, at: float, status: int = 200, verb: str = "send") -> Operation:
    done = history.begin(operation(request_id, verb))
    done.tries.append(Try(began_at=at, ended_at=at + 1, status=None, problem="cut"))
    done.tries.append(Try(began_at=at, ended_at=at + 2, status=status, answer={"task_id": request_id}))
    history.end(done)
    return done


def test_an_operation_has_the_answer_of_its_last_try():
    done = answered(History(1), "one", at=0)

    assert (done.status, done.answer, done.is_acknowledged) == (200, {"task_id": "one"}, True)
    assert not operation("two").is_acknowledged


def test_a_fault_is_recorded_with_its_operation():
    history = History(1)
    begun = history.begin(operation("one"))

    history.faulted("one", "early")
    history.faulted("unknown", "early")

    assert begun.faults == ["early"]


def test_recovery_is_measured_to_the_first_write_that_was_tried_after_the_fault():
    history = History(1)
    answered(history, "before", at=1)
    answered(history, "read", at=5, verb="look")
    answered(history, "refused", at=6, status=503)
    answered(history, "after", at=7)

    assert history.first_write_after(4) == 9
    assert history.first_write_after(8) is None


def test_the_longest_silence_lies_between_two_acknowledged_writes_or_at_an_end():
    history = History(1)
    for at in (1, 2, 9):
        answered(history, str(at), at=at)
    answered(history, "read", at=5, verb="look")

    assert [history.longest_silence(*span) for span in [(0, 5), (3.5, 12), (12, 19)]] == [3, 7, 7]


def test_threads_write_whole_lines(tmp_path):
    history = History(1, tmp_path / "history.jsonl")

    def record(number: int) -> None:
        for one in range(50):
            answered(history, f"{number}-{one}", at=0)

    threads = [threading.Thread(target=record, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history.begin(operation("open"))
    history.note("kill", pid=7)
    history.close()

    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert len(lines) == 202
    assert [line["request_id"] for line in lines if line.get("ended_at", 0) is None] == ["open"]
