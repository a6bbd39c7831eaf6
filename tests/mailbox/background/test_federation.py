"""Two served hubs, each with an agent of the other as a remote agent, over the official protocol."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from a2a_hub_client import Answer, Retry, TextBlock, Update
from a2a_hub_client import Hub as Client
from a2a_hub_client.models.tasks import LeasedTask
from tests.support.hub import PATIENCE, ROOT, Hub, served, wait_until
from tests.support.own_client import client_of

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

VERSION = {"A2A-Version": "1.0"}


@dataclass
class Side:
    """One hub. It can be killed, and is then started again on the same port with the same data."""

    var: Path
    stack: contextlib.ExitStack
    keys: dict[str, str] = field(default_factory=dict)
    hub: Hub = field(init=False)
    port: int = 0  # which the system chooses at the first start

    def __post_init__(self) -> None:
        self.start()

    @property
    def url(self) -> str:
        return self.hub.url

    def start(self) -> None:
        own = served(self.var, services="web,carrier", port=self.port, A2A_OUTBOUND_ALLOW="127.0.0.1")
        self.hub = self.stack.enter_context(own)
        self.port = urlsplit(self.hub.url).port or 0

    def kill_and_start(self) -> None:
        for process in [psutil.Process(self.hub.process.pid), *self.hub.descendants()]:
            with contextlib.suppress(psutil.NoSuchProcess):  # a process ends by itself when its parent has ended
                process.kill()
        self.hub.process.wait()
        self.start()

    def a2a(self, *words: str) -> str:
        environment = psutil.Process(self.hub.process.pid).environ()
        command = [sys.executable, "manage.py", "a2a", *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    def add(self, name: str, *more: str) -> None:
        self.keys[name] = json.loads(self.a2a("agents", "add", name, *more, "--json"))["api_key"]

    def client(self, name: str) -> Client:
        """Return a client of the agent, which repeats a request until the hub answers."""
        return client_of(self.url, self.keys[name], retry=Retry(patience=PATIENCE, longest_pause=1))

    def lease(self, name: str) -> LeasedTask:
        leases: list[LeasedTask] = []
        with self.client(name) as worker:
            while not leases:
                leases = worker.receive(wait=20).leases
        return leases[0]

    def update(self, name: str, leased: LeasedTask, *updates: Update) -> None:
        with self.client(name) as worker:
            worker.post_updates(leased.task.id, updates, lease_id=leased.lease.id)

    def resolve(self, name: str, leased: LeasedTask, **answer: Any) -> None:
        with self.client(name) as worker:
            worker.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id, **answer))

    def rpc(self, name: str, agent: str, operation: str, params: Any) -> Any:
        """Call an operation of the official protocol at an agent of this hub."""
        body = {"jsonrpc": "2.0", "id": 1, "method": operation, "params": params}
        headers = {**VERSION, "X-API-Key": self.keys[name]}
        answer = httpx.post(f"{self.url}/agents/{agent}/a2a", json=body, headers=headers, timeout=PATIENCE)
        return answer.json()["result"]


@dataclass
class Listener:
    """A client that follows a task by a stream, and comes back with the id of its last event after a cut."""

    events: list[dict[str, Any]] = field(default_factory=list)
    last_id: str = ""
    is_over: bool = False

    def follow(self, side: Side, name: str, agent: str, task_id: str) -> None:
        while not self.is_over:
            with contextlib.suppress(httpx.HTTPError):
                self._read(side, name, agent, task_id)

    def _read(self, side: Side, name: str, agent: str, task_id: str) -> None:
        body = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task_id}}
        headers = {**VERSION, "X-API-Key": side.keys[name]}
        if self.last_id:
            headers["Last-Event-ID"] = self.last_id
        url = f"{side.url}/agents/{agent}/a2a"
        with httpx.stream("POST", url, json=body, headers=headers, timeout=PATIENCE) as stream:
            for line in stream.iter_lines():
                name_, _, value = line.partition(": ")
                if name_ == "id":
                    self.last_id = value
                elif name_ == "data":
                    self._hear(json.loads(value)["result"])

    def _hear(self, event: dict[str, Any]) -> None:
        if "task" not in event:
            self.events.append(event)
        status = event.get("statusUpdate", event.get("task", {})).get("status", {})
        self.is_over = self.is_over or status.get("state") == "TASK_STATE_COMPLETED"

    @property
    def chunks(self) -> list[str]:
        updates = [event["artifactUpdate"] for event in self.events if "artifactUpdate" in event]
        return [part["text"] for update in updates for part in update["artifact"]["parts"]]

    @property
    def messages(self) -> list[str]:
        said = [event["statusUpdate"]["status"].get("message") for event in self.events if "statusUpdate" in event]
        return [part["text"] for message in said if message for part in message["parts"]]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """Serve two hubs. Each has a worker, a client, and the other's worker as a remote agent of the same name."""
    with contextlib.ExitStack() as stack:
        near, far = (Side(tmp_path_factory.mktemp(name), stack) for name in ("near", "far"))
        for side, worker in ((near, "nora"), (far, "fred")):
            side.add(worker)
            side.add("client")
            side.add("gate")  # the other hub, as this one knows it
            side.a2a("grant", "gate", f"a2a.send.{worker}@local")
            side.a2a("grant", worker, "a2a.respond.*")
            side.a2a("grant", "client", "a2a.send.*")
        for side, other, worker in ((near, far, "fred"), (far, near, "nora")):
            key = side.var / "key"
            key.write_text(other.keys["gate"])
            side.add(worker, "--card", f"{other.url}/agents/{worker}/", "--key-file", str(key))
        yield near, far


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}], **more}


def chunk(text: str, **how: Any) -> Update:
    return Update.with_artifact(text, artifact_id="out", **how)


@pytest.mark.smoke
def test_a_task_and_its_streamed_answer_survive_a_kill_of_either_hub(sides: tuple[Side, Side]) -> None:
    near, far = sides
    before = far.rpc("gate", "fred", "ListTasks", {})["totalSize"]
    now = {"message": message("count"), "configuration": {"returnImmediately": True}}
    task_id = near.rpc("client", "fred", "SendMessage", now)["task"]["id"]
    listener = Listener()
    thread = threading.Thread(target=listener.follow, args=(near, "client", "fred", task_id), daemon=True)
    thread.start()
    leased = far.lease("fred")

    far.update("fred", leased, Update.saying("step 1"), chunk("one "))
    wait_until(lambda: listener.chunks == ["one "])
    far.kill_and_start()
    far.update("fred", leased, chunk("two ", append=True))
    wait_until(lambda: listener.chunks == ["one ", "two "])
    near.kill_and_start()
    far.update("fred", leased, chunk("three", append=True, last_chunk=True))
    far.resolve("fred", leased, message="done")
    thread.join(PATIENCE)

    assert listener.is_over
    assert listener.chunks == ["one ", "two ", "three"]
    assert listener.messages == ["step 1", "done"]
    shown = near.rpc("client", "fred", "GetTask", {"id": task_id})
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [part["text"] for part in shown["artifacts"][0]["parts"]] == ["one ", "two ", "three"]
    assert far.rpc("gate", "fred", "ListTasks", {})["totalSize"] == before + 1


def test_a_question_and_its_answer_pass_both_ways(sides: tuple[Side, Side]) -> None:
    near, far = sides
    for here, there, worker in ((near, far, "fred"), (far, near, "nora")):
        now = {"message": message("paint"), "configuration": {"returnImmediately": True}}
        task = here.rpc("client", worker, "SendMessage", now)["task"]
        first = there.lease(worker)
        there.update(worker, first, Update.asking("which colour?"))

        def shown(here: Side = here, worker: str = worker, task: Any = task) -> Any:
            return here.rpc("client", worker, "GetTask", {"id": task["id"]})

        wait_until(lambda: shown()["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", every=0.2)
        assert shown()["status"]["message"]["parts"] == [{"text": "which colour?"}]
        answer = {"message": message("red", taskId=task["id"]), "configuration": {"returnImmediately": True}}
        here.rpc("client", worker, "SendMessage", answer)
        second = there.lease(worker)
        assert second.task.id == first.task.id
        assert second.message
        assert (second.turn, second.message.content) == (2, [TextBlock("red")])
        there.resolve(worker, second, content="painted")
        wait_until(lambda: shown()["status"]["state"] == "TASK_STATE_COMPLETED", every=0.2)
        assert shown()["artifacts"][0]["parts"] == [{"text": "painted"}]
