from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests.support import hub
from tests.support.hub import PATIENCE, ROOT, free_port

pytestmark = pytest.mark.one_database


SOME_PORTS = "from tests.support.hub import free_port; print(*(free_port() for _ in range(20)))"


def test_no_two_processes_get_the_same_port():
    command = [sys.executable, "-c", SOME_PORTS]
    programs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    ports = [port for program in programs for port in program.communicate(timeout=PATIENCE)[0].split()]

    assert len(set(ports)) == len(ports) == 80


def test_a_port_that_another_process_has_is_left_out(tmp_path, monkeypatch):
    last = tmp_path / "last"
    monkeypatch.setattr(hub, "LAST_PORT", last)
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        last.write_text(str(port - 1))

        assert free_port() != port


def test_after_the_last_port_comes_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "LAST_PORT", tmp_path / "last")
    hub.LAST_PORT.write_text(str(hub.PORTS.stop - 1))

    assert free_port() in hub.PORTS
