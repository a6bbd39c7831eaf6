"""The examples of the client's README run, one after the other, with a hub in memory."""

import functools
import re
import threading

import pytest

import a2a_hub_client
from a2a_hub_client import Answer, FakeHub, Update
from tests.support.hub import ROOT
from tests.support.pauses import tick_at_once

pytestmark = pytest.mark.one_database

README = (ROOT / "clients" / "python" / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
HOTELS_ASK = "a room in Porto"


@pytest.fixture
def hotels(monkeypatch):
    """Answer the tasks for hotels until the test ends. The clients of the README are those of a planner."""
    fake = FakeHub("planner", "hotels", "taxis")

    def hub(_, key, **options):
        if key != "a2a_key_of_taxis":
            return fake.hub("planner", **options)
        fake.hub("planner").send("taxis", "to the airport")
        taxis = fake.hub("taxis")
        monkeypatch.setattr(taxis, "run", functools.partial(taxis.run, max_tasks=1))
        return taxis

    monkeypatch.setattr(a2a_hub_client, "Hub", hub, raising=False)
    monkeypatch.setattr(a2a_hub_client, "AsyncHub", lambda *_: fake.async_hub("planner"), raising=False)
    tick_at_once(monkeypatch)
    ended = threading.Event()
    worker = threading.Thread(target=serve, args=[fake.hub("hotels"), ended])
    worker.start()
    yield
    ended.set()
    worker.join()


def serve(hub, ended):
    while not ended.is_set():
        for leased in hub.receive(wait=0.01).leases:
            if leased.task.text == HOTELS_ASK and leased.turn == 1:
                hub.post_updates(leased.task.id, [Update.asking("which room?")], lease_id=leased.lease.id)
                continue
            hub.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id, content="Hotel Alfa"))


def test_the_examples_run(hotels, capsys):
    namespace = {"__name__": "readme"}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102

    printed = capsys.readouterr().out
    assert len(BLOCKS) == 10
    assert printed.startswith("ok Hotel Alfa\nsent: TaskHandle(")
    assert "agent which room?\nuser with a view, please\nok\n" in printed
    assert printed.endswith("['Hotel Alfa', 'Hotel Alfa']\n")
