"""A hub whose processes are all signalled at once, as service managers do, stops and loses no acknowledged task."""

import re
import signal
import sqlite3
import threading
from contextlib import closing, suppress
from uuid import UUID

import pytest

from a2a_hub_client import Retry, UnreachableError
from a2a_hub_client.errors import UnavailableError
from tests.support.hub import PATIENCE, served, wait_until
from tests.support.own_client import client_of

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

ENOUGH = 20  # acknowledged tasks before the stop
SENDERS = 4


def sending(url: str, key: str, acknowledged: list[UUID]) -> threading.Thread:
    """Return a thread that sends tasks until the hub no longer answers."""

    def send() -> None:
        with client_of(url, key, retry=Retry(patience=0)) as client, suppress(UnreachableError):
            while True:
                with suppress(UnavailableError):
                    acknowledged.append(client.send("first", "Count the lines of the report").id)

    return threading.Thread(target=send)


def test_a_signal_to_the_whole_group_loses_no_acknowledged_task(tmp_path):
    acknowledged: list[UUID] = []
    with served(tmp_path, services="all", migrates=True, workers=2) as hub:
        operator, key = re.findall(r"API key +(a2a_\w+)", hub.first_run)
        with client_of(hub.url, operator) as granting:
            granting.grant("first@local", "a2a.send.first@local")
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

    assert code == 0
    assert {task.hex for task in acknowledged} <= kept
    assert "did not stop in time" not in hub.printed
