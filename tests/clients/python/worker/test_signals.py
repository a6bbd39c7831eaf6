"""Workers that are stopped or killed, or lose the connection to the hub or their lease."""

import socket
import sys
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from typer.testing import CliRunner

from a2a_hub_client.cli.app import app
from mailbox.models import Lease, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from tests.support import factories
from tests.support.cast import olga
from tests.support.databases import url_of_the_tests_database
from tests.support.hub import has_ended, served, wait_until
from tests.support.workers import await_message, lease_of, messages_of, result_of, text_of

pytestmark = pytest.mark.one_database

__all__ = ["olga"]

SLEEPER = ("sh", "-c", "sleep 60 & echo $$ $!; wait")
ATTEMPT = ("sh", "-c", "echo $A2A_ATTEMPT")


def gated(gate):
    """Return a program that prints a line, waits for a file ``gate``, and ends with success."""
    return ("sh", "-c", f"echo begun; while [ ! -e {gate} ]; do sleep 0.05; done; echo done")


def processes_of(task):
    """Return the processes of a `SLEEPER`."""
    return [psutil.Process(int(pid)) for pid in await_message(task)[0].split()]


def all_end(processes):
    wait_until(lambda: all(map(has_ended, processes)))
    return True


def requeue(olga, task):
    return repair.requeue(olga, task.uuid, reason="stale", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)


def test_a_killed_worker_leaves_a_lease_but_no_running_program(desk, alice, bob, olga):
    task = factories.sent_task(alice, bob)
    with desk.process(*SLEEPER) as worker:
        processes = processes_of(task)
        worker.process.kill()

        assert all_end(processes)
    headers = {"X-API-Key": desk.key}
    (lease,) = httpx.get(f"{desk.url}/a2a/leases", headers=headers).json()["leases"]
    stale = httpx.get(f"{desk.url}/a2a/queue?min_lease_age_ms=1", headers=headers).json()["tasks"]
    assert (lease["task"]["id"], lease["attempt"]) == (str(task.uuid), 1)
    assert [entry["lease_id"] for entry in stale] == [lease["lease_id"]]

    requeue(olga, task)
    assert desk.run(*ATTEMPT) is None

    assert text_of(result_of(task)) == "2"
    assert [(lease.attempt, lease.end) for lease in task.leases.order_by("attempt")] == [(1, "requeue"), (2, "result")]


def test_a_program_whose_lease_ended_is_stopped_and_posts_nothing(desk, alice, bob, olga):
    task = factories.sent_task(alice, bob)
    with desk.process(*SLEEPER, options=("--once",)) as worker:
        processes = processes_of(task)
        requeue(olga, task)

        assert all_end(processes)
        assert worker.code() == 0

    task.refresh_from_db()
    assert task.state == Task.State.QUEUED
    assert "the lease is no longer live" in worker.printed
    assert not factories.journal("a2a_result_rejected")


def test_a_result_survives_a_restart_of_the_hub(desk, alice, bob, tmp_path):
    task = factories.sent_task(alice, bob)
    url = url_of_the_tests_database()
    gate = tmp_path / "gate"
    with served(tmp_path / "hub", database_url=url) as hub:
        desk.url = hub.url
        with desk.process(*gated(gate), options=("--once",)) as worker:
            await_message(task)
            hub.stop()
            gate.touch()
            wait_until(lambda: "trying again" in worker.printed)
            with served(tmp_path / "hub", database_url=url, port=urlsplit(hub.url).port or 0):
                assert worker.code() == 0

    assert text_of(result_of(task)) == "done"
    assert messages_of(task) == ["begun", "done"]


def test_a_worker_waits_for_a_hub_that_has_not_started_yet(desk, alice, bob, tmp_path):
    task = factories.sent_task(alice, bob)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        desk.url = f"http://127.0.0.1:{port}"
        with desk.process("cat", options=("--once",)) as worker:
            wait_until(lambda: "Cannot lease a task now" in worker.printed)
            reserved.close()
            with served(tmp_path / "hub", database_url=url_of_the_tests_database(), port=port):
                assert worker.code() == 0

    assert result_of(task).status == "ok"
    assert "The hub answers again." in worker.printed


def test_a_stopping_worker_lets_its_program_finish_and_takes_no_more(desk, alice, bob, tmp_path):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    gate = tmp_path / "gate"
    with desk.process(*gated(gate), options=("--grace", "20")) as worker:
        await_message(first)
        worker.interrupt()
        wait_until(lambda: "Stopping" in worker.printed)
        gate.touch()
        assert worker.code() == 0

    second.refresh_from_db()
    assert text_of(result_of(first)) == "done"
    assert (second.state, second.attempt) == (Task.State.QUEUED, 0)


def test_a_program_that_outlasts_the_grace_is_stopped_and_released(desk, alice, bob):
    task = factories.sent_task(alice, bob)
    with desk.process(*SLEEPER) as worker:
        processes = processes_of(task)
        worker.process.terminate()
        assert worker.code() == 0

    task.refresh_from_db()
    (released,) = factories.journal("a2a_task_released")
    assert all_end(processes)
    assert (task.state, lease_of(task)) == (Task.State.QUEUED, None)
    assert released.fields["reason"] == "the worker was stopped before the task was done"


def test_a_second_ctrl_c_stops_at_once_and_still_releases(desk, alice, bob):
    task = factories.sent_task(alice, bob)
    with desk.process(*SLEEPER, options=("--grace", "600")) as worker:
        processes = processes_of(task)
        worker.interrupt()
        wait_until(lambda: "Stopping" in worker.printed)
        worker.interrupt()
        assert worker.code() == 0

    assert all_end(processes)
    assert task.leases.get().end == Lease.End.RELEASE


def test_a_worker_that_cannot_reach_the_hub_logs_the_lease_it_left(desk, alice, bob, tmp_path):
    task = factories.sent_task(alice, bob)
    with served(tmp_path / "hub", database_url=url_of_the_tests_database()) as hub:
        desk.url = hub.url
        with desk.process(*SLEEPER) as worker:
            processes = processes_of(task)
            hub.stop()
            worker.interrupt()
            wait_until(lambda: "Stopping" in worker.printed)
            worker.interrupt()
            assert worker.code() == 1

    assert all_end(processes)
    assert f"lease {task.leases.get().lease_id} stays live" in worker.printed
    assert lease_of(task) is not None


def test_an_idle_worker_stops_without_a_lease(desk, alice, bob):
    with desk.process("cat") as worker:
        wait_until(lambda: "Working as bob" in worker.printed)
        worker.interrupt()
        assert worker.code() == 0

    assert not Lease.objects.exists()
    assert not list((desk.var / "worker").glob("*.sqlite3"))


def test_a_program_that_ends_within_its_time_limit_succeeds(desk, alice, bob):
    task = factories.sent_task(alice, bob, work_timeout=timedelta(minutes=10))
    with desk.process(sys.executable, "-c", "print('quick')", options=("--once",)) as worker:
        assert worker.code() == 0

    assert text_of(result_of(task)) == "quick"


@pytest.mark.parametrize(
    ("key", "code", "message"),
    [("", 1, "there is no key for "), ("a2a_wrong", 1, "Stopping: ")],
)
def test_a_missing_or_wrong_key_ends_the_worker(desk, key, code, message):
    desk.key = key
    with desk.process("cat") as worker:
        assert worker.code() == code

    assert message in worker.printed
    assert "Traceback" not in worker.printed


def test_the_help_of_work_describes_a_program_s_environment():
    shown = CliRunner().invoke(app, ["work", "--help"])

    assert shown.exit_code == 0
    assert "A2A_TASK" in shown.stdout
