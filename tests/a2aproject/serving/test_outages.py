"""A served hub whose database takes no change for a while: 503 with the reason, and back within seconds."""

import os
import re
import resource
import subprocess
import sys

import httpx
import pytest

from tests.support.hub import PATIENCE, ROOT, Hub, served, wait_until
from tools.proof import servers

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


def agent_of(hub: Hub) -> httpx.Client:
    key = re.findall(r"API key +(a2a_\w+)", hub.first_run)[-1]
    return httpx.Client(base_url=hub.url, headers={"X-API-Key": key}, timeout=PATIENCE)


def send(agent: httpx.Client) -> httpx.Response:
    return agent.post("/a2a/tasks", json={"recipient": "first@local", "intent_text": "x" * 50_000})


def ready(hub: Hub) -> tuple[int, str]:
    answer = httpx.get(f"{hub.url}/readyz", timeout=PATIENCE)
    return answer.status_code, answer.json()["status"]


def limit_files(hub: Hub, most: int) -> None:
    """Let each web worker write no file beyond its first ``most`` bytes."""
    for worker in hub.web_workers():
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def test_a_file_that_cannot_grow_ends_readiness_until_it_can(tmp_path):
    with served(tmp_path, migrates=True) as hub, agent_of(hub) as agent:
        assert ready(hub) == (200, "ok")
        limit_files(hub, 4096)
        refused = send(agent)
        wait_until(lambda: ready(hub) == (503, "the disk of the database fails"))
        limit_files(hub, resource.RLIM_INFINITY)
        wait_until(lambda: ready(hub) == (200, "ok"))

        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert "the database failed: disk I/O error" in hub.printed
        assert send(agent).status_code in (200, 403)


def test_a_server_that_becomes_read_only_ends_readiness_until_it_is_writable(tmp_path, postgresql):
    with servers.room() as room:
        server = room.server()
        with served(tmp_path, migrates=True, database_url=server.url) as hub, agent_of(hub) as agent:
            assert ready(hub) == (200, "ok")
            server.configure("default_transaction_read_only", "on")
            refused = send(agent)
            wait_until(lambda: ready(hub) == (503, "the database is read-only"))
            server.configure("default_transaction_read_only", None)
            wait_until(lambda: ready(hub) == (200, "ok"))

            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
            assert "in a read-only transaction" in hub.printed
            assert send(agent).status_code in (200, 403)


def test_a_standby_is_not_served_and_one_sentence_says_why(tmp_path, postgresql):
    with servers.pair() as pair:
        env = {"A2A_VAR": str(tmp_path), "PORT": "0"}
        migrated = run("migrate", "-v0", **env, DATABASE_URL=pair.url)
        refused = run("serve", **env, DATABASE_URL=pair.standby.url)
        with served(tmp_path, database_url=pair.standby.url) as hub:
            during = ready(hub)
            page = httpx.get(f"{hub.url}/admin/login/")
            pair.fail_over()
            wait_until(lambda: ready(hub) == (200, "ok"))

    assert migrated.returncode == 0
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert re.match(r"CommandError: The database cannot be used: .*read-only", refused.stderr)
    assert during == (503, "the database is read-only")
    assert page.status_code in (200, 503)


def test_a_server_with_fsync_off_is_not_served(tmp_path, monkeypatch, postgresql):
    monkeypatch.setitem(servers.SETTINGS, "fsync", "off")
    with servers.room() as room:
        server = room.server()
        refused = run("serve", A2A_VAR=str(tmp_path), PORT="0", DATABASE_URL=server.url)

    assert refused.returncode == 1
    assert "(a2a.E008)" in refused.stderr
    assert "Traceback" not in refused.stderr


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
