"""Programs that write control lines: they ask, report, produce, refuse and close. Source: A2A, task states."""

import json
import sys
import textwrap
from datetime import timedelta
from uuid import uuid4

import pytest

from a2a_hub_client.worker import job
from mailbox.life import conversation, leasing
from mailbox.models import Artifact, Lease, Message
from mailbox.words.conversation import Words
from tests.support import factories
from tests.support.factories import text
from tests.support.hub import wait_until
from tests.support.workers import await_message, result_of, text_of

pytestmark = pytest.mark.one_database

SAY = """
import json, os, sys, time

def say(**fields):
    print(os.environ["A2A_CONTROL"], json.dumps(fields), flush=True)

"""


def program(source: str) -> tuple[str, ...]:
    return (sys.executable, "-c", SAY + textwrap.dedent(source))


def run(desk, source, **how):
    return desk.run(*program(source), protocol="lines", **how)


def produced(task):
    return [(row.artifact_id, row.append, row.last_chunk, row.blocks) for row in Artifact.objects.filter(task=task)]


def test_a_program_reports_produces_and_closes(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    failure = run(
        desk,
        """
        print("plain", flush=True)
        say(message=[{"type": "json", "value": [1]}], message_id="m-1", metadata={"a": 2})
        say(progress={"fraction": 0.5, "note": "half"})
        say(artifact={"artifact_id": "page", "name": "Page", "content": "a"})
        say(artifact={"artifact_id": "page", "content": "b"}, append=True, last_chunk=True)
        say(status="ok", content="the end", message="bye")
        """,
    )

    assert failure is None
    assert (result_of(task).status, text_of(result_of(task))) == ("ok", "the end")
    said = list(Message.objects.filter(task=task).in_order())
    assert [message.words for message in said] == [text("plain"), [{"type": "json", "value": [1]}], [], text("bye")]
    assert (said[1].message_id, said[1].details) == ("m-1", {"metadata": {"a": 2}})
    assert produced(task) == [("page", False, False, text("a")), ("page", True, True, text("b"))]


def test_a_question_ends_the_lease_and_the_answer_starts_the_program_again(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="paint")
    source = """
    turn, text = os.environ["A2A_TURN"], sys.stdin.read()
    if turn == "1":
        say(status="input_required", message="which colour?")
    else:
        with open(os.environ["A2A_CONVERSATION"]) as file:
            said = [json.loads(line) for line in file]
        spoken = [(one["role"], one["content"][0]["text"]) for one in said]
        say(status="ok", content=json.dumps([turn, text, spoken]))
    """

    assert run(desk, source) is None
    task.refresh_from_db()
    assert (task.state, task.awaits, Lease.objects.get().end) == ("interrupted", "input", "asked")
    conversation.say(alice, task.uuid, Words(content=text("green")))
    assert run(desk, source) is None

    turn, heard, spoken = json.loads(text_of(result_of(task)))
    assert (turn, heard) == ("2", "paint\ngreen")
    assert spoken == [["user", "paint"], ["agent", "which colour?"], ["user", "green"]]


def test_a_plain_program_gets_all_that_its_sender_sent(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="paint")
    conversation.say(alice, task.uuid, Words(content=text("in green")))

    assert desk.run("cat", result="all") is None

    assert text_of(result_of(task)) == "paint\nin green"


def test_a_program_without_the_protocol_has_no_token(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run("sh", "-c", 'echo "${A2A_CONTROL-none} $A2A_TURN $(wc -l < $A2A_CONVERSATION)"')

    assert text_of(result_of(task)) == "none 1 1"


def test_each_run_has_its_own_token_and_its_file_is_deleted(desk, alice, bob, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tasks = [factories.sent_task(alice, bob) for _ in range(2)]

    run(desk, 'print(os.environ["A2A_CONTROL"][::-1], os.path.dirname(os.environ["A2A_CONVERSATION"]))', tasks=2)

    (one, folder), (other, _) = (text_of(result_of(task)).split() for task in tasks)
    assert one != other
    assert folder == str(tmp_path)
    assert not list(tmp_path.glob("a2a-conversation-*"))


def test_a_request_for_authorization_waits_until_the_agent_goes_on(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    run(desk, 'say(status="auth_required", message="sign in first")')

    task.refresh_from_db()
    assert (task.state, task.awaits) == ("interrupted", "authorization")
    assert leasing.lease_task(bob, task.uuid).attempt == 2


@pytest.mark.parametrize(
    ("line", "outcome", "error"),
    [
        ('status="rejected", error_message="not my work"', "rejected", "not my work"),
        ('status="error", error_message="broken"', "error", "broken"),
        ('status="partial", content="half", error_message="no time"', "partial", "no time"),
        ('status="ok", direct=True, content="42"', "ok", None),
    ],
)
def test_a_program_ends_its_task_in_any_way(desk, alice, bob, line, outcome, error):
    task = factories.sent_task(alice, bob)

    assert run(desk, f"say({line})") is None

    task.refresh_from_db()
    assert (task.outcome, result_of(task).error_message) == (outcome, error)
    assert task.is_direct == ("direct" in line)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('print(os.environ["A2A_CONTROL"], "{")', "faulty control line: not JSON"),
        ('say(colour="green")', "must have exactly one of"),
        ('say(status="done")', "updates.0.status: must be"),
        ('say(artifact={"artifact_id": "page"})', "updates.0.artifact.content: is required"),
        ('say(artifact={"content": "a"}, append=True)', "needs an artifact of this id"),
        ('say(message=[{"type": "video"}])', "unknown content block type"),
        ('say(artifact={"content": [{"type": "video"}]})', "the hub refused 1 update(s): updates.0.artifact"),
        ('say(status="ok", direct=True)', "the hub refused the result: direct"),
        ('say(status="rejected")', "error_message must give the reason"),
        ('say(status="auth_required")', "needs a message"),
        ('say(status="input_required", message="a"); say(message="b")', "the line before was the last"),
        ('say(status="ok", message="a"); sys.exit(3)', "exit code 3"),
    ],
)
def test_a_faulty_control_line_ends_the_task_with_a_clear_error(desk, alice, bob, source, problem):
    task = factories.sent_task(alice, bob)

    assert run(desk, source) is None

    result = result_of(task)
    assert result.status == "error"
    assert problem in str(result.error_message)
    assert problem.partition(":")[0] in "\n".join(desk.said)


def test_a_faulty_control_line_stops_the_program(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    run(desk, 'say(colour="green"); time.sleep(600)')

    assert "faulty control line" in str(result_of(task).error_message)


def test_a_program_that_goes_on_after_its_last_line_is_stopped_after_the_grace(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    run(desk, 'say(status="ok", content="done"); time.sleep(600)')

    assert (result_of(task).status, text_of(result_of(task))) == ("ok", "done")


RESULT = 'say(status="ok", content="done")'
QUESTION = 'say(status="input_required", message="which colour?")'


@pytest.mark.parametrize("line", [RESULT, QUESTION])
def test_the_last_line_counts_if_the_program_lingers_beyond_the_work_timeout(desk, alice, bob, line):
    task = factories.sent_task(alice, bob, work_timeout=timedelta(seconds=4))
    said = {
        RESULT: '"status": "ok", "content": "done"',
        QUESTION: '"status": "input_required", "message": "which colour?"',
    }

    # A shell starts far sooner than the work timeout ends, also on a busy machine.
    lingering = ("sh", "-c", 'echo "$A2A_CONTROL $0"; sleep 600', f"{{{said[line]}}}")
    assert desk.run(*lingering, protocol="lines", grace=60.0) is None

    assert_last_line_counts(task, line)


@pytest.mark.parametrize("line", [RESULT, QUESTION])
def test_the_last_line_counts_if_the_worker_is_stopped_while_the_program_lingers(desk, alice, bob, line):
    task = factories.sent_task(alice, bob)
    lingering = program(f'{line}; print("said", flush=True); time.sleep(600)')
    with desk.process(*lingering, options=("--protocol", "lines", "--grace", "600")) as worker:
        await_message(task)
        worker.interrupt()
        wait_until(lambda: "Stopping" in worker.printed)
        worker.interrupt()
        assert worker.code() == 0

    assert_last_line_counts(task, line)


def assert_last_line_counts(task, line):
    task.refresh_from_db()
    if line == QUESTION:
        assert (task.state, task.awaits) == ("interrupted", "input")
    else:
        assert (task.outcome, text_of(result_of(task))) == ("ok", "done")
    assert task.leases.count() == 1


def test_a_question_to_a_sender_that_takes_none_is_an_error(desk, alice, bob):
    task = factories.sent_task(alice, bob, converses=False)

    assert run(desk, 'say(status="input_required", message="which colour?")') is None

    assert "the hub refused the question: " in str(result_of(task).error_message)


def test_chunks_beyond_the_room_of_the_task_are_an_error(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    run(desk, 'for _ in range(40): say(artifact={"content": "x" * 500_000})')

    assert "at most 16777216 bytes" in str(result_of(task).error_message)


def test_a_program_waits_while_the_hub_has_not_taken_its_lines(desk, alice, bob, monkeypatch):
    monkeypatch.setattr(job, "MOST_WAITING", 100_000)
    task = factories.sent_task(alice, bob)

    assert (
        run(
            desk,
            """
        for number in range(30):
            say(artifact={"content": "x" * 50_000}, append=number > 0, last_chunk=number == 29)
        """,
        )
        is None
    )

    assert result_of(task).status == "ok"
    assert len(produced(task)) == 30


def test_a_released_task_brings_its_messages_to_the_next_run(desk, alice, bob):
    task = factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, attempt_id=uuid4())
    leasing.release(bob, task.uuid, reason="later")

    run(desk, 'say(status="ok", content=open(os.environ["A2A_CONVERSATION"]).read())')

    (line,) = text_of(result_of(task)).splitlines()
    assert json.loads(line)["content"] == text(task.intent_text)


def test_control_lines_are_no_messages_and_no_result(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    run(desk, 'say(progress={"fraction": 1}); print("answer")')

    assert text_of(result_of(task)) == "answer"
