"""A killed carrier and a killed remote agent of the official protocol, with a served hub in processes of its own."""

import contextlib
import json
import subprocess
import sys

import httpx
import psutil
import pytest

from tests.support.hub import ROOT, command_of, served, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


@contextlib.contextmanager
def agent_process():
    """Run an agent that streams until the block ends; yield its URL."""
    command = [sys.executable, "-m", "tests.support.official_servers"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def counts(url):
    return httpx.get(f"{url}/counts").json()


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


def test_after_a_killed_carrier_the_next_follows_on_without_submitting(carrying_hub):
    hub = carrying_hub
    with agent_process() as url:
        for name, more in (("anna", ()), ("olive", ("--card", url))):
            a2a(hub, "agents", "add", name, *more)
        sent = a2a(hub, "send", "--from", "anna", "--to", "olive", "slow")
        wait_until(lambda: "step 1" in a2a(hub, "messages", sent))

        killed = carrier_of(hub)
        killed.kill()
        received = json.loads(a2a(hub, "drain", "anna", "--wait-ms", "60000", "--json"))

        assert received["result"]["status"] == "ok"
        assert counts(url) == {"sent": 1, "tasks": 1}
        assert a2a(hub, "messages", sent).count("step 1") == 1
        assert a2a(hub, "artifacts", sent).count("echo: ") == 1
        assert carrier_of(hub).pid != killed.pid
