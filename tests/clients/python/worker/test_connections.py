"""Workers and cut connections: requests that arrive although their answers are lost."""

import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from a2a_hub_client.errors import AttemptSpentError, HubError, NotNowError, RefusedError
from a2a_hub_client.refusals import ForbiddenError, LeaseMismatchError
from a2a_hub_client.worker import client
from a2a_hub_client.worker.programs import Programs, ProgramSettings
from a2a_hub_client.worker.worker import Receiving, Worker
from mailbox.models import Lease, Task
from tests.support import factories
from tests.support.hub import PATIENCE
from tests.support.workers import messages_of, result_of, text_of

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


class Cutter(ThreadingHTTPServer):
    """A proxy before a hub. For each path ending in ``paths``, it drops the answer to the first request."""

    def __init__(self, hub_url, *paths):
        super().__init__(("127.0.0.1", 0), Passage)
        self.hub_url = hub_url
        self.to_cut = set(paths)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Passage(BaseHTTPRequestHandler):
    server: Cutter

    def do_GET(self):
        answer = httpx.get(self.server.hub_url + self.path, headers={"Authorization": self.headers["Authorization"]})
        self.send_response(answer.status_code)
        self.end_headers()
        self.wfile.write(answer.content)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        names = ("Authorization", "Content-Type")
        headers = {name: self.headers[name] for name in names}
        answer = httpx.post(self.server.hub_url + self.path, content=body, headers=headers, timeout=PATIENCE)
        for path in self.server.to_cut:
            if self.path.endswith(path):
                self.server.to_cut.remove(path)
                self.close_connection = True
                return
        self.send_response(answer.status_code)
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_):
        pass


@pytest.fixture
def cutter(served_hub, desk):
    with Cutter(served_hub.url, "/next", "/updates", "/results") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        desk.url = server.url
        yield server
        server.shutdown()


def test_lost_answers_cost_no_lease_and_repeat_no_message_or_result(cutter, desk, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="once")

    assert desk.run("cat") is None

    task.refresh_from_db()
    assert not cutter.to_cut
    assert (task.state, task.attempt, Lease.objects.count()) == (Task.State.RESOLVED, 1, 1)
    assert text_of(result_of(task)) == "once"
    assert messages_of(task) == ["once"]
    assert len(factories.journal("a2a_result_posted")) == 1


class ScriptedHub:
    """A hub whose leases are scripted: each entry is returned, or raised if it is an error."""

    url = "http://hub.test"

    def __init__(self, *script):
        self.script = list(script)
        self.receives = []
        self.changed = threading.Event()
        self.pending = 0

    def me(self):
        return {"agent": {"display": "bob@local", "pubkey": "key"}, "person": None}

    def leases(self):
        return []

    def receive(self, attempt_id, *, most, wait):
        self.receives.append((attempt_id, wait))
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def stop_batches(self):
        pass


def worker_of(hub):
    work = Programs(ProgramSettings(command=("true",), environment={}, grace=0.1))
    return Worker(hub, "bob", work, say=lambda _: None)


@pytest.mark.processes
def test_an_empty_answer_keeps_the_attempt_id():
    hub = ScriptedHub([], RefusedError("closed"))

    assert worker_of(hub).run() == "closed"

    (first, _), (second, _) = hub.receives
    assert first == second


@pytest.mark.processes
def test_a_spent_attempt_id_is_replaced():
    hub = ScriptedHub(AttemptSpentError("spent"), RefusedError("closed"))

    assert worker_of(hub).run() == "closed"

    (first, _), (second, _) = hub.receives
    assert first != second


@pytest.mark.processes
def test_a_stopped_worker_outwaits_the_poll_whose_answer_was_lost(monkeypatch):
    def stop_in_trouble(line):
        if line.startswith("Cannot lease"):
            signal.raise_signal(signal.SIGINT)

    hub = ScriptedHub(NotNowError("cut", may_have_arrived=True), [])
    worker = worker_of(hub)
    monkeypatch.setattr(worker._receiving, "_say", stop_in_trouble)

    assert worker.run() is None

    (first, _), (second, wait) = hub.receives
    assert first == second
    assert wait > 0


def test_insist_ends_on_success_on_refusal_or_when_abandoned():
    abandon, tries = threading.Event(), iter([NotNowError("busy"), ForbiddenError("key"), None])
    heard: list[HubError] = []

    def request():
        if error := next(tries):
            raise error

    assert client.insist(request, abandon=abandon, on_trouble=heard.append)
    assert [str(error) for error in heard] == ["busy"]

    def refuse():
        raise LeaseMismatchError("gone")

    with pytest.raises(LeaseMismatchError):
        client.insist(refuse, abandon=abandon, on_trouble=heard.append)

    def wait():
        raise NotNowError("busy")

    abandon.set()
    assert not client.insist(wait, abandon=abandon, on_trouble=heard.append)


@pytest.mark.parametrize(("wait", "rests"), [(3.0, [1.0]), (0.5, [])])
def test_an_empty_answer_that_comes_early_is_followed_by_a_rest(monkeypatch, wait, rests):
    stopping = threading.Event()
    receiving = Receiving(ScriptedHub([]), stopping=stopping, abandon=threading.Event(), say=lambda _: None)  # type: ignore[arg-type]
    seen: list[float] = []
    monkeypatch.setattr(stopping, "wait", seen.append)

    assert receiving.next(1, wait) == []
    assert seen == rests
