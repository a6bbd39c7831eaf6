"""Programs of a worker: their input, their output, and how their end becomes a result. Source: corvid-agent."""

import json
import sys
from datetime import timedelta

import psutil
import pytest

from a2a_hub_client.worker import programs
from a2a_hub_client.worker.output import Output
from mailbox.models import Task
from tests.support import factories
from tests.support.hub import has_ended, wait_until
from tests.support.workers import lease_of, messages_of, result_of, text_of

pytestmark = pytest.mark.one_database

STUBBORN = "trap '' TERM; sleep 60 & echo $$ $!; sleep 60"
FLOOD = (
    "import sys; sys.stdout.write('x' * 100_000 + '\\n'); sys.stdout.writelines(f'{n}\\n' for n in range(2_000_000))"
)


def shell(script):
    return ("sh", "-c", script)


@pytest.mark.smoke
def test_a_program_gets_the_text_and_its_last_line_is_the_answer(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="größer\nas said\n")

    assert desk.run("tr", "a-z", "A-Z") is None

    result = result_of(task)
    assert (result.status, text_of(result), result.error_message) == ("ok", "AS SAID", None)
    assert messages_of(task) == ["GRößER", "AS SAID"]
    assert factories.life_of(task) == [
        "a2a_task_sent",
        "a2a_task_leased",
        "a2a_task_updated",
        "a2a_task_updated",
        "a2a_result_posted",
    ]
    (line,) = desk.said[1:]
    assert line.startswith(f"task {task.uuid} attempt 1 after ")
    assert line.endswith(" s: ok")


def test_all_of_the_output_is_the_answer_on_request(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="one\n\ntwo\n")

    desk.run("cat", result="all")

    assert text_of(result_of(task)) == "one\n\ntwo"


def test_an_output_too_large_as_json_is_replaced_by_its_last_line(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run(sys.executable, "-c", "print(('\\1' * 8000 + '\\n') * 32 + 'the end')", result="all")

    result = result_of(task)
    assert (result.status, text_of(result).partition("\n")[2]) == ("ok", "the end")


def test_a_result_that_the_hub_refuses_is_posted_and_logged_as_an_error(desk, alice, bob, monkeypatch):
    task = factories.sent_task(alice, bob)
    monkeypatch.setattr(Output, "whole", "\1" * 300_000)

    desk.run("true", result="all")

    assert "the hub refused the result: " in str(result_of(task).error_message)
    assert "the hub refused the result: " in desk.said[-1]


def test_a_program_without_output_gives_an_empty_result(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run("true")

    assert (result_of(task).status, result_of(task).blocks, messages_of(task)) == ("ok", [], [])


def test_a_program_gets_its_task_but_no_api_key(desk, alice, bob, monkeypatch):
    monkeypatch.setenv("A2A_API_KEY", desk.key)
    monkeypatch.setenv("KEPT_ELSEWHERE", f"Bearer {desk.key}")
    task = factories.sent_task(alice, bob, task_kind="look", intent_text="look\naround")

    desk.run(sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))")

    environment = json.loads(text_of(result_of(task)))
    assert desk.key not in str(environment)
    assert not environment.keys() & {"A2A_API_KEY", "KEPT_ELSEWHERE"}
    assert environment["A2A_TASK_ID"] == str(task.uuid)
    assert environment["A2A_LEASE_ID"] == str(task.leases.get().lease_id)
    assert environment["A2A_ATTEMPT"] == "1"
    told = json.loads(environment["A2A_TASK"])
    assert (told["id"], told["task_kind"], told["intent_text"]) == (str(task.uuid), "look", "look\naround")


def test_a_text_too_long_for_a_variable_is_only_on_stdin(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="ü" * 300_000)

    desk.run(*shell("wc -c; echo $A2A_TASK"), result="all")

    size, told = text_of(result_of(task)).split("\n")
    assert size.strip() == "600000"
    assert json.loads(told)["id"] == str(task.uuid)
    assert "intent_text" not in json.loads(told)
    assert json.loads(told)["left_out"] == ["intent_text"]


def test_fields_too_long_for_a_variable_are_left_out_and_listed(desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="innocent", metadata={"skill": "s" * 200_000})

    assert desk.run(*shell("tr a-z A-Z; echo; echo $A2A_TASK"), result="all") is None

    text, told = text_of(result_of(task)).split("\n")
    assert text == "INNOCENT"
    assert json.loads(told)["left_out"] == ["metadata"]
    assert json.loads(told)["intent_text"] == "innocent"


def test_a_task_that_prevents_the_program_s_start_is_an_error(desk, alice, bob, monkeypatch):
    poisoned, task = factories.sent_task(alice, bob, intent_text="x" * 150_000), factories.sent_task(alice, bob)
    monkeypatch.setattr(programs, "TASK_BYTES", 1_000_000)

    assert desk.run("true", tasks=2) is None

    result = result_of(poisoned)
    assert result.status == "error"
    assert "cannot be started with this task: " in str(result.error_message)
    assert result_of(task).status == "ok"
    assert not factories.journal("a2a_task_released")


def test_invalid_utf_8_is_replaced_and_nul_is_removed(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run("printf", r"a\377b\000c\n")

    assert text_of(result_of(task)) == "a\ufffdbc"


def test_a_program_that_fails_is_an_error_with_the_end_of_its_stderr(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    assert desk.run(*shell("echo half; echo oops >&2; exit 3")) is None

    result = result_of(task)
    assert (result.status, result.error_message) == ("error", "exit code 3\noops")
    assert messages_of(task) == ["half"]


def test_a_program_that_crashes_is_an_error_with_its_signal(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run(*shell("kill -SEGV $$"))

    assert result_of(task).error_message == "killed by SIGSEGV"


def test_a_program_that_times_out_is_killed_with_its_child_processes(desk, alice, bob):
    task = factories.sent_task(alice, bob, work_timeout=timedelta(seconds=4))

    assert desk.run(*shell(STUBBORN)) is None

    result = result_of(task)
    assert (result.status, result.error_message) == ("error", "Task timed out")
    wait_until(lambda: all(not psutil.pid_exists(int(pid)) for pid in messages_of(task)[0].split()))


def test_child_processes_of_an_ended_program_are_killed(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run(*shell("sleep 60 & echo $!"))

    left = text_of(result_of(task))
    wait_until(lambda: not psutil.pid_exists(int(left)) or has_ended(psutil.Process(int(left))))


def test_a_flood_of_output_is_capped_with_a_notice(desk, alice, bob):
    task = factories.sent_task(alice, bob)

    desk.run(sys.executable, "-c", FLOOD)

    said = messages_of(task)
    assert len(said) == 1001
    assert said[0] == "x" * 8192 + " [line cut]"
    assert said[1] == "0"
    assert said[-1].startswith("[output capped at ")
    assert text_of(result_of(task)) == "1999999"


def test_a_worker_gives_up_a_program_that_cannot_be_started(desk, alice, bob, tmp_path):
    task = factories.sent_task(alice, bob)
    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o700)

    failure = desk.run(str(program))

    task.refresh_from_db()
    assert failure == f"{program} could not be started 3 times in a row"
    assert (task.state, task.attempt, lease_of(task)) == (Task.State.QUEUED, 3, None)
    assert "cannot be started" in factories.journal("a2a_task_released")[0].fields["reason"]


@pytest.mark.parametrize("name", ["bob", "bob@local"])
def test_several_programs_run_at_once(desk, alice, bob, name):
    tasks = [factories.sent_task(alice, bob, intent_text=str(number)) for number in range(3)]
    meet = f'touch {desk.var}/$A2A_TASK_ID; while [ "$(ls {desk.var} | wc -l)" -lt 3 ]; do sleep 0.05; done; cat'

    assert desk.run(*shell(meet), name=name, tasks=3, concurrency=3) is None

    assert sorted(text_of(result_of(task)) for task in tasks) == ["0", "1", "2"]
