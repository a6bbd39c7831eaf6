"""Workers of batches: one request posts the results of the last tasks and leases the next."""

import re
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from a2a_hub_client import Hub
from a2a_hub_client.errors import RefusedError
from a2a_hub_client.worker import attempt, client
from a2a_hub_client.worker.worker import LINGER, POLL
from mailbox.life import sending
from mailbox.models import AuditEvent, Lease, Message, Task
from tests.clients.python.worker.test_connections import Cutter
from tests.support import factories
from tests.support.hub import wait_until
from tests.support.workers import lease_of, result_of, text_of

pytestmark = pytest.mark.one_database

FAILING = "import sys; text = sys.stdin.read(); print(text) if text != 'task 1' else sys.exit(3)"
SLOW = "import sys, time; text = sys.stdin.read(); time.sleep(60 if text == 'task 0' else 0); print(text)"


@pytest.fixture
def tasks(desk, alice, bob):
    """Send five tasks; return them in their order."""
    return [factories.sent_task(alice, bob, intent_text=f"task {number}") for number in range(5)]


def posts(event: str) -> list[str]:
    """Return the request of each row of this kind in the journal."""
    return [str(row.request_id) for row in AuditEvent.objects.filter(kind=event).order_by("pk")]


def test_the_results_of_a_batch_and_the_next_leases_are_one_request(desk, tasks):
    assert desk.run("cat", tasks=5, batch=3) is None

    assert [text_of(result_of(task)) for task in tasks] == [f"task {number}" for number in range(5)]
    leased, posted = posts("a2a_task_leased"), posts("a2a_result_posted")
    assert len(set(leased)) == 2
    assert set(posted[:3]) == {leased[3]}
    assert Lease.objects.count() == 5


def test_without_messages_the_only_request_of_a_batch_is_its_lease(desk, tasks, monkeypatch):
    post, paths = client.BatchingClient._post, []

    def noted(hub, path, body, read, **how):
        paths.append(path)
        return post(hub, path, body, read, **how)

    monkeypatch.setattr(client.BatchingClient, "_post", noted)

    assert desk.run("cat", tasks=4, batch=2, concurrency=2, messages="none") is None

    assert [text_of(result_of(task)) for task in tasks[:4]] == [f"task {number}" for number in range(4)]
    assert not Message.objects.exists()
    assert set(paths) == {"/a2a/tasks/lease", "/a2a/results/batch"}


def test_a_request_with_results_waits_only_briefly_for_tasks(desk, tasks, monkeypatch):
    receive, waits = client.BatchingClient.receive, []

    def noted(hub, attempt_id, *, most, wait):
        waits.append((hub.pending, wait))
        return receive(hub, attempt_id, most=most, wait=wait)

    monkeypatch.setattr(client.BatchingClient, "receive", noted)

    assert desk.run("cat", tasks=2, batch=1) is None

    assert waits == [(0, POLL), (1, LINGER)]


@pytest.mark.parametrize("concurrency", [1, 5])
def test_a_failing_task_spoils_no_other_task_of_its_batch(desk, tasks, concurrency):
    assert desk.run(sys.executable, "-c", FAILING, tasks=5, batch=5, concurrency=concurrency) is None

    results = [result_of(task) for task in tasks]
    assert [result.status for result in results] == ["ok", "error", "ok", "ok", "ok"]
    assert results[1].error_message == "exit code 3"


def test_a_slow_task_holds_up_no_result_of_its_batch(desk, tasks):
    with desk.process(sys.executable, "-c", SLOW, options=("--batch", "3", "--concurrency", "2")) as worker:
        for task in tasks[1:]:
            result_of(task)
        assert lease_of(tasks[0]) is not None
        worker.interrupt()
        assert worker.code() == 0

    tasks[0].refresh_from_db()
    assert tasks[0].state == Task.State.QUEUED
    assert "released: the worker was stopped before the task was done" in worker.printed


def test_ctrl_c_releases_the_tasks_of_the_batch_that_were_not_begun(desk, tasks):
    with desk.process("sleep", "60", options=("--batch", "4", "--concurrency", "1")) as worker:
        wait_until(lambda: Lease.objects.live().count() == 4)
        leased_at = max(Lease.objects.values_list("leased_at", flat=True))
        wait_until(lambda: Lease.objects.filter(last_seen_at__gt=leased_at).count() == 4)
        worker.interrupt()
        assert worker.code() == 0

    assert not Lease.objects.live().exists()
    assert set(Task.objects.values_list("state", flat=True)) == {Task.State.QUEUED}
    assert worker.printed.count("released: the worker was stopped before the task was begun") == 3


def test_the_duration_of_a_task_ends_with_its_program(desk, tasks, monkeypatch):
    answer, hours = client.BatchingClient.answer, []

    def answer_an_hour_later(hub, leased, result, meanwhile):
        answer(hub, leased, result, meanwhile)
        hours.append(3600)

    monkeypatch.setattr(client.BatchingClient, "answer", answer_an_hour_later)
    monkeypatch.setattr(attempt, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + sum(hours)))

    assert desk.run("cat", batch=1) is None

    (took,) = re.findall(r" after ([0-9.]+) s: ok", "\n".join(desk.said))
    assert float(took) < 3600


def test_a_killed_worker_leaves_its_leases(desk, tasks):
    with desk.process("sleep", "60", options=("--batch", "4")) as worker:
        wait_until(lambda: Lease.objects.live().count() == 4)
        worker.process.kill()
        worker.code()

    assert Lease.objects.live().count() == 4


def test_a_task_that_was_cancelled_in_its_batch_is_not_begun(desk, tasks, alice, tmp_path):
    gate = tmp_path / "gate"
    waits = f"while [ ! -e {gate} ]; do sleep 0.05; done; cat"
    with desk.process("sh", "-c", waits, options=("--batch", "2", "--concurrency", "1")) as worker:
        wait_until(lambda: lease_of(tasks[1]))
        sending.cancel(alice, tasks[1].uuid)
        wait_until(lambda: "the task was not begun: " in worker.printed)
        gate.touch()
        for task in (tasks[0], *tasks[2:]):
            assert result_of(task).status == "ok"

    assert not Message.objects.filter(task=tasks[1]).exists()


def test_lost_answers_to_batches_cost_no_lease_and_repeat_no_result(served_hub, desk, tasks):
    with Cutter(served_hub.url, "/lease", "/batch") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        desk.url = server.url
        assert desk.run("cat", tasks=5, batch=2) is None
        server.shutdown()

    assert not server.to_cut
    assert [result_of(task).status for task in tasks] == ["ok"] * 5
    assert (Lease.objects.count(), len(posts("a2a_result_posted"))) == (5, 5)


def test_the_results_of_a_refused_batch_are_posted_alone(desk, tasks, monkeypatch):
    post, refused = client.BatchingClient._post, []

    def refuse_results(hub, path, body, read, **how):
        if path == "/a2a/tasks/lease" and body.get("results"):
            refused.append(len(body["results"]))
            raise RefusedError("too large")
        return post(hub, path, body, read, **how)

    monkeypatch.setattr(client.BatchingClient, "_post", refuse_results)

    assert desk.run("cat", tasks=4, batch=2) is None

    assert refused == [2]
    assert [result_of(task).status for task in tasks[:4]] == ["ok"] * 4


def test_a_batch_of_results_is_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(client, "MOST_BYTES", 100)
    hub = client.BatchingClient(Hub("http://hub.test", "key"))
    hub._pending = [client._Posting({"content": "x" * size}) for size in (300, 20, 20, 20)]

    assert hub._batch() == hub._pending[:1]
    del hub._pending[0]
    assert hub._batch() == hub._pending[:2]
