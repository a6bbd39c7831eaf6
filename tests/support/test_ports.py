from __future__ import annotations

import multiprocessing
import socket
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.support import hub
from tests.support.hub import free_port

pytestmark = pytest.mark.one_database


def some_ports(count: int) -> list[int]:
    return [free_port() for _ in range(count)]


def test_no_two_processes_get_the_same_port():
    with ProcessPoolExecutor(4, multiprocessing.get_context("fork")) as pool:
        ports = [port for found in pool.map(some_ports, [20] * 4) for port in found]

    assert len(set(ports)) == len(ports)


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
