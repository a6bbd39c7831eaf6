"""The sender of remote tasks in a thread, and in a served hub with a remote agent in a process of its own."""

import contextlib
import json
import subprocess
import sys
import threading
from functools import partial

import httpx
import psutil
import pytest
from django.db import connection

from agentcards import profiles, remote_calls
from agentcards.models import RemoteCall
from mailbox.access.callers import Caller
from mailbox.background import remote_sender
from mailbox.background.remote_sender import RemoteSender
from mailbox.database.bell import ringing, topics, waiters
from mailbox.database.bell.waiters import Waiter
from mailbox.models import Result
from tests.support import factories
from tests.support.hub import ROOT, command_of, served, wait_until
from tests.support.own_client import client_of
from tests.support.receiver import receiver
from tests.support.watching import watched


@pytest.mark.django_db(transaction=True)
def test_a_ring_brings_a_task_to_its_remote_agent(remote, alice, monkeypatch):
    monkeypatch.setattr(ringing, "begin", lambda: None)
    monkeypatch.setattr(remote_sender, "LONGEST_PAUSE", 3600)
    waits, looks = watched(monkeypatch, Waiter, "wait_for"), watched(monkeypatch, remote_calls, "look")
    rita = factories.agent("rita")
    profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": remote.url})
    stop = threading.Event()
    carrier = threading.Thread(target=work, args=(stop,))

    carrier.start()
    try:
        for number in range(2):
            waits.until(lambda: topics.agent(factories.row_of(rita).pk) in waiters.waited())
            factories.sent_task(alice, rita)
            looks.until(partial(has_results, number + 1))
    finally:
        stop.set()
        carrier.join()


@pytest.mark.django_db(transaction=True)
def test_the_sender_brings_many_tasks_at_once_and_stops_on_request(remote, alice, monkeypatch):
    looks = watched(monkeypatch, remote_calls, "look")
    rita = factories.agent("rita")
    profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": remote.url})
    for number in range(6):
        factories.sent_task(alice, rita, intent_text=f"work {number}")
    stop = threading.Event()
    carrier = threading.Thread(target=work, args=(stop,))

    carrier.start()
    try:
        looks.until(partial(has_results, 6))
    finally:
        stop.set()
        carrier.join()

    assert sorted(result.blocks[0]["text"] for result in Result.objects.all()) == [f"work {n}: done" for n in range(6)]
    assert len(remote.bodies) == 6
    assert not RemoteCall.objects.exclude(lease__ended_at=None).filter(remote_task_id=None).exists()


def has_results(count):
    return Result.objects.count() == count


def work(stop):
    try:
        RemoteSender().run(stop)
    finally:
        connection.close()


@contextlib.contextmanager
def remote_process(looks):
    """Run a corvid-agent whose tasks end after that many polls; yield its URL."""
    command = [sys.executable, "-m", "tests.support.remote_servers", str(looks)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def carrying_hub(tmp_path_factory, migrated_database):
    """Serve a hub that may call the loopback."""
    var = tmp_path_factory.mktemp("hub")
    with (
        migrated_database() as database_url,
        served(var, services="web,carrier", database_url=database_url, A2A_OUTBOUND_ALLOW="127.0.0.1") as hub,
    ):
        yield hub


def a2a(hub, *words):
    """Run a command with the environment of the served hub; return its output."""
    command = [sys.executable, "manage.py", "a2a", *words]
    environment = psutil.Process(hub.process.pid).environ()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.removesuffix("\n")


def carrier_of(hub):
    children = psutil.Process(hub.process.pid).children()
    return next((child for child in children if command_of(child)[-1:] == ["carry"]), None)


@pytest.mark.one_database
def test_after_a_killed_carrier_the_next_polls_on_without_submitting(carrying_hub):
    hub = carrying_hub
    with remote_process(looks=2) as url:
        for name in ("anna", "rita"):
            a2a(hub, "agents", "add", name)
        a2a(hub, "profile", "rita", "--remote-url", url)
        a2a(hub, "send", "--from", "anna", "--to", "rita", "work")

        wait_until(lambda: httpx.get(f"{url}/counts").json()["looks"])
        killed = carrier_of(hub)
        killed.kill()
        received = a2a(hub, "drain", "anna", "--wait-ms", "60000")

        assert received.endswith("work: done")
        assert httpx.get(f"{url}/counts").json()["submitted"] == 1
        assert carrier_of(hub).pid != killed.pid


@pytest.mark.one_database
def test_a_served_hub_sends_callbacks(carrying_hub):
    hub = carrying_hub
    key = json.loads(a2a(hub, "agents", "add", "alice", "--json"))["api_key"]
    a2a(hub, "agents", "add", "bob")
    a2a(hub, "grant", "alice", "a2a.send.bob@local")

    with receiver() as seen:
        with client_of(hub.url, key) as sender:
            sent = str(sender.send("bob", "count", callback_url=seen.url).id)
        a2a(hub, "recv", "bob")
        a2a(hub, "post-result", "--status", "ok", "--text", "6", sent)
        wait_until(lambda: seen.calls)

    assert json.loads(seen.calls[0][1])["task_id"] == sent
