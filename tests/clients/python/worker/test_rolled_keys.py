"""A worker gets new keys while it works, and the hub refuses none of its requests."""

import os
import threading
from uuid import uuid4

import httpx
import pytest

from a2a_hub_client import Hub
from a2a_hub_client.credentials import KeyFile
from a2a_hub_client.errors import HubError
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.job import TaskResult
from mailbox.models import ApiKey, Task
from tests.support import factories
from tests.support.hub import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

HANDS, ROLLS, TASKS = 4, 3, 40


class Work:
    """Threads that lease and answer tasks until stopped. ``refused`` holds the errors of their requests."""

    def __init__(self, hub: WorkerClient) -> None:
        self.hub, self.refused, self.rounds = hub, list[str](), [0] * HANDS
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(HANDS)]

    def run(self, number: int) -> None:
        while not self.stop.is_set():
            try:
                for leased in self.hub.receive(uuid4(), most=1, wait=0):
                    self.hub.heartbeat(leased)
                    self.hub.answer(leased, TaskResult(text="done"), lambda: None)
            except HubError as error:
                self.refused.append(f"{type(error).__name__}: {error}")
                return
            self.rounds[number] += 1

    def goes_on(self) -> bool:
        """Whether each thread has made two more rounds, so that its last requests began after this call."""
        before = list(self.rounds)
        wait_until(lambda: self.refused or all(now >= then + 2 for now, then in zip(self.rounds, before, strict=True)))
        return not self.refused


def test_a_worker_under_load_gets_new_keys_without_a_refused_request(served_hub, alice, bob, tmp_path):
    for _ in range(TASKS):
        factories.sent_task(alice, bob)
    file = tmp_path / "key"
    file.write_text(factories.key_of(bob))
    with Hub(served_hub.url, KeyFile(file)) as hub:
        work = Work(WorkerClient(hub))
        for thread in work.threads:
            thread.start()
        try:
            assert all(roll(served_hub.url, file, work) for _ in range(ROLLS))
            wait_until(lambda: work.refused or not Task.objects.exclude(state=Task.State.RESOLVED).exists())
        finally:
            work.stop.set()
            for thread in work.threads:
                thread.join()

    assert work.refused == []
    assert Task.objects.filter(state=Task.State.RESOLVED).count() == TASKS
    assert ApiKey.objects.filter(agent=bob.agent, last_used_at__isnull=False).count() == ROLLS + 1


def roll(url, file, work):
    """Rotate the key of the file as its documentation says, and revoke the old key before its overlap ends."""
    assert work.goes_on()
    old = {"X-API-Key": file.read_text()}
    made = httpx.post(f"{url}/a2a/keys/rotate", json={"overlap_ms": 60_000}, headers=old).raise_for_status().json()
    draft = file.with_name("new")
    draft.write_text(made["api_key"])
    os.replace(draft, file)
    assert work.goes_on()
    new = {"X-API-Key": made["api_key"]}
    httpx.post(f"{url}/a2a/keys/revoke", json={"public_id": made["replaces"]}, headers=new).raise_for_status()
    return work.goes_on()
