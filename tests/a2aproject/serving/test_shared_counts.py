"""The web processes of a hub count together."""

import os
import signal
import stat
import subprocess
import sys

import httpx
import psutil
import pytest

from a2aproject.serving import shared_counts
from tests.support.hub import PATIENCE, ROOT, served, wait_until

pytestmark = pytest.mark.one_database

TOKEN = "a-token-of-the-operator"
SEATS = 2 * (1024 - 128)  # of two processes with the default of WEB_THREADS
LINE = 'a2a_http_requests_total{method="GET",route="/healthz",status="200"}'
COUNT = """
from a2aproject.serving import shared_counts
shared_counts.join()
from prometheus_client import Counter
Counter("counted", "x").inc()
"""


def test_a_new_web_server_begins_with_an_empty_private_folder(tmp_path):
    folder = tmp_path / "metrics"

    assert shared_counts.environment(folder) == {shared_counts.VARIABLE: str(folder)}
    (folder / "counter_1.db").touch()
    (folder / "other").touch()
    shared_counts.environment(folder)

    assert [file.name for file in folder.iterdir()] == ["other"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_leaves_each_process_alone(tmp_path, caplog):
    (tmp_path / "file").touch()

    assert shared_counts.environment(tmp_path / "file" / "metrics") == {}
    assert "each web process counts alone" in caplog.text


def count(folder, *limits):
    return subprocess.run(
        [sys.executable, *limits, "-c", COUNT],
        cwd=ROOT,
        env=os.environ | {shared_counts.VARIABLE: str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.processes
def test_a_process_takes_the_space_of_its_files_before_it_counts(tmp_path):
    assert count(tmp_path).returncode == 0

    sizes = {file.name.rpartition("_")[0]: file.stat() for file in tmp_path.iterdir()}
    assert {kind: found.st_size for kind, found in sizes.items()} == shared_counts.SPACE
    assert all(found.st_blocks * 512 >= found.st_size for found in sizes.values())
    assert {stat.S_IMODE(found.st_mode) for found in sizes.values()} == {0o600}


@pytest.mark.processes
def test_a_process_without_space_counts_alone(tmp_path):
    counted = count(tmp_path, "-m", "tests.support.limits", "FSIZE", "0", sys.executable)

    assert counted.returncode == 0, counted.stderr
    assert "this web process counts alone" in counted.stderr


def test_a_process_without_a_folder_knows_itself_alone(monkeypatch):
    monkeypatch.delenv(shared_counts.VARIABLE, raising=False)

    assert shared_counts.processes() == {os.getpid(): True}


@pytest.mark.processes
@pytest.mark.processes
def test_every_web_process_tells_the_counts_of_all_also_of_killed_ones(tmp_path):
    with served(tmp_path, workers=2, A2A_METRICS_TOKEN=TOKEN) as hub:
        folder = next(tmp_path.glob("metrics-*"))

        def files():
            return [file for file in folder.glob("counter_*.db") if b"/healthz" in file.read_bytes()]

        def numbers():
            return [int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_livesum_*.db")]

        def told():
            answer = httpx.get(f"{hub.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
            lines = (line.rpartition(" ") for line in answer.raise_for_status().text.splitlines())
            return {name: float(value) for name, _, value in lines if not name.startswith("#")}

        def ask():
            httpx.get(f"{hub.url}/healthz").raise_for_status()
            return len(files()) == 2

        wait_until(ask)
        counts = [told()[LINE] for _ in range(20)]
        victim = int(files()[0].stem.rpartition("_")[2])
        psutil.Process(victim).send_signal(signal.SIGKILL)
        wait_until(lambda: told()["a2a_wait_seats"] == SEATS and victim not in numbers())

        assert len(set(counts)) == 1
        assert [told()[LINE] >= counts[0] for _ in range(9)] == [True] * 9
        assert told()["process_resident_memory_bytes"] > 2 * 2**20
        assert told()["a2a_web_processes"] == 2
