"""A hub whose processes are all signalled at once, as service managers do, stops and loses no acknowledged task."""

from __future__ import annotations

import re
import signal
import sqlite3
import threading
from contextlib import closing

import httpx
import pytest

from tests.support.hub import PATIENCE, served, wait_until

pytestmark = [pytest.mark.one_database, pytest.mark.slow]

ENOUGH = 20  # acknowledged tasks before the stop
SENDERS = 4


def sending(url: str, key: str, acknowledged: list[str]) -> threading.Thread:
    """Return a thread that sends tasks until the hub no longer answers."""

    def send() -> None:
        body = {"recipient": "first", "intent_text": "Count the lines of the report"}
        with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=PATIENCE) as client:
            while True:
                try:
                    answer = client.post("/a2a/tasks", json=body)
                except httpx.TransportError:
                    return
                if answer.is_success:
                    acknowledged.append(answer.json()["task_id"])

    return threading.Thread(target=send)


def test_a_signal_to_the_whole_group_loses_no_acknowledged_task(tmp_path):
    acknowledged: list[str] = []
    with served(tmp_path, workers=2) as hub:
        operator, key = re.findall(r"API key +(a2a_\w+)", hub.first_run)
        grant = {"subject": "first@local", "action": "a2a.send.first@local"}
        granted = httpx.post(f"{hub.url}/capabilities/grant", json=grant, headers={"X-API-Key": operator})
        senders = [sending(hub.url, key, acknowledged) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        wait_until(lambda: len(acknowledged) >= ENOUGH)
        for process in reversed(hub.roles().values()):
            process.send_signal(signal.SIGTERM)
        code = hub.process.wait(PATIENCE)
        for sender in senders:
            sender.join()

    with closing(sqlite3.connect(tmp_path / "hub.sqlite3")) as database:
        kept = {row[0] for row in database.execute("SELECT uuid FROM mailbox_task")}

    assert granted.is_success
    assert code == 0
    assert {task.replace("-", "") for task in acknowledged} <= kept
    assert "did not stop in time" not in hub.printed
