"""The unit of systemd: systemd accepts it, and it fits the hub."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.a2aproject.web.test_metrics import BEARER, TOKEN
from tests.support import pages
from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.one_database

UNIT = pages.page("deploy/systemd/a2a-hub.service")


def value_of(name: str) -> str:
    (value,) = re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)
    return str(value)


def test_the_folder_that_systemd_makes_is_the_hub_s_own():
    assert value_of("Environment") == f"A2A_VAR=/var/lib/{value_of('StateDirectory')}"
    assert value_of("StateDirectoryMode") == "0700"


def test_the_supervisor_alone_is_signalled_and_has_time_to_stop():
    assert value_of("KillMode") == "mixed"
    assert int(value_of("TimeoutStopSec")) > settings.STOP_GRACE
    assert value_of("Restart") == "always"


def test_the_unit_runs_what_the_page_installs():
    page = pages.page("docs/operate/deploy.md")
    folder = value_of("WorkingDirectory")

    assert value_of("ExecStart") == f"{folder}/.venv/bin/python manage.py serve"
    assert f"cp -r . {folder} " in page
    assert value_of("EnvironmentFile").removeprefix("-") in page
    assert f"/sbin/nologin {value_of('User')}\n" in page


def test_the_sandbox_leaves_the_hub_what_it_needs() -> None:
    """A thread for each waiting request is a task, and each waiting request holds a file."""
    assert int(value_of("TasksMax")) > 16 * settings.WEB_THREADS
    assert int(value_of("LimitNOFILE")) > 16 * settings.WEB_THREADS
    assert {"AF_INET", "AF_INET6", "AF_UNIX"} <= {*value_of("RestrictAddressFamilies").split()}


@pytest.mark.django_db
def test_the_sandbox_leaves_the_metrics_of_processes_their_files(client: Any, settings: Any, monkeypatch: Any) -> None:
    """With `ProcSubset=pid` only the folders of processes are left of /proc."""
    opened: list[str] = []

    def spy(path: Any, *args: Any, **kwargs: Any) -> Any:
        opened.append(str(path))
        return open(path, *args, **kwargs)

    settings.A2A_METRICS_TOKEN = TOKEN
    monkeypatch.setattr("prometheus_client.process_collector.open", spy, raising=False)
    told = client.get("/metrics", headers=BEARER).text
    outside = [path for path in opened if not re.match(r"/proc/(\d+|self)/", path)]

    assert "process_resident_memory_bytes" in told
    assert any(path.startswith(f"/proc/{os.getpid()}/") for path in opened)
    assert outside == [] or "ProcSubset=pid" not in UNIT.splitlines(), outside


@pytest.mark.processes
@pytest.mark.usefixtures("systemd_analyze")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "a2a-hub.service"
    text = UNIT.replace("/opt/a2a-hub/.venv/bin/python", sys.executable).replace("/opt/a2a-hub", str(ROOT))
    unit.write_text(text.replace("Group=a2a\n", "").replace("User=a2a\n", ""))

    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert [line for line in verified.stderr.splitlines() if "a2a-hub" in line] == []
