import os
import socket
import sys
import time

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from a2aproject.management.commands import serve
from a2aproject.serving import supervise
from a2aproject.settings import edge

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("web", ["web"]),
        ("carrier", ["carrier"]),
        ("carrier, web,web", ["web", "carrier"]),
        ("web,cluster,carrier", ["web", "cluster", "carrier"]),
    ],
)
def test_only_the_named_services_are_chosen(text, words):
    assert serve.chosen(text) == words


@pytest.mark.parametrize("text", ["", " ", "web,", "web,,carrier", "worker", "Web", "web cluster"])
def test_unknown_services_are_rejected_with_the_choices(text):
    with pytest.raises(CommandError) as refused:
        call_command("serve", only=text)

    assert str(refused.value) == f"--only is {text!r}: it takes a comma-separated list of web, cluster, carrier."
    assert refused.value.returncode == 2


@pytest.fixture
def supervised(monkeypatch):
    """Return the names of the services that a `serve` in this process starts; its greeting is printed at once."""
    names: list[str] = []

    def become(services, *, greeting, **_):
        names.extend(service.name for service in services)
        if greeting is not None:
            sys.stdout.write(greeting.text)

    monkeypatch.setattr(supervise, "become", become)
    monkeypatch.setattr(connections, "close_all", lambda: None)
    return names


@pytest.fixture
def chosen_port(settings, monkeypatch):
    """Let the system choose the port of the next hub; return a function that reads it."""
    settings.PORT, settings.PUBLIC_URL = 0, edge.own_url(0)
    monkeypatch.setenv("PORT", "0")
    kept: list[int] = []
    monkeypatch.setattr(os, "set_inheritable", lambda descriptor, _: kept.append(descriptor))
    yield lambda: settings.PORT
    for descriptor in kept:
        os.close(descriptor)


def test_all_services_run_unless_some_are_named(supervised, chosen_port, capsys):
    call_command("serve", no_migrate=True)

    assert supervised == ["web server", "task cluster", "carrier"]
    assert f"{edge.own_url(chosen_port())}/ops/" in capsys.readouterr().out


def test_port_0_is_a_free_port_that_every_program_of_the_hub_gets(supervised, chosen_port, settings, capsys):
    call_command("serve", no_migrate=True)

    port = chosen_port()
    assert f"A2A Hub starts on port {port}. Stop it with Ctrl-C.\n" in capsys.readouterr().out
    assert os.environ["PORT"] == str(port)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((settings.BIND_HOST, port))


def test_port_0_changes_no_public_url_that_an_operator_has_set(supervised, chosen_port, settings):
    settings.PUBLIC_URL = "https://hub.example.org"

    call_command("serve", no_migrate=True)

    assert settings.PUBLIC_URL == "https://hub.example.org"


@pytest.mark.processes
def test_port_0_on_an_address_of_another_machine_is_refused(supervised, chosen_port, settings):
    settings.BIND_HOST = "192.0.2.1"

    with pytest.raises(CommandError, match=r"Cannot listen on 192\.0\.2\.1: .*\. Set BIND_HOST\."):
        call_command("serve", no_migrate=True)


def test_without_the_web_server_no_port_is_checked(supervised, settings, capsys):
    with socket.socket() as taken:
        taken.bind((settings.BIND_HOST, 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]

        call_command("serve", no_migrate=True, only="cluster,carrier")

    assert supervised == ["task cluster", "carrier"]
    assert "://" not in capsys.readouterr().out


def test_a_port_that_becomes_free_in_time_is_used(supervised, settings, monkeypatch):
    with socket.socket() as taken:
        taken.bind((settings.BIND_HOST, 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]
        monkeypatch.setattr(time, "sleep", lambda _: taken.close())

        call_command("serve", no_migrate=True)

    assert supervised == ["web server", "task cluster", "carrier"]


@pytest.mark.processes
def test_a_port_that_stays_in_use_is_refused_with_advice(supervised, settings, monkeypatch):
    monkeypatch.setattr(serve, "PATIENCE", 0.3)
    with socket.socket() as taken:
        taken.bind((settings.BIND_HOST, 0))
        taken.listen()
        settings.PORT = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {settings.PORT} on .* is in use. Stop the other program"):
            call_command("serve", no_migrate=True)

    assert supervised == []


def test_only_the_cluster_is_restarted_when_it_finishes_nothing():
    silent = {word: make().late_after for word, make in serve.SERVICES.items()}

    assert silent == {"web": None, "cluster": 180, "carrier": None}


def test_web_requests_get_two_thirds_of_the_stop_grace(settings):
    settings.STOP_GRACE = 60

    command = serve.SERVICES["web"]().command

    assert command[command.index("--workers-kill-timeout") + 1] == "40"


def test_waiting_threads_of_the_web_server_keep_no_freed_memory(monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)

    assert serve.SERVICES["web"]().environment["GLIBC_TUNABLES"].split(":") == [
        "glibc.malloc.tcache_count=0",
        "glibc.malloc.arena_max=4",
        "glibc.malloc.mmap_threshold=262144",
        "glibc.malloc.trim_threshold=1048576",
    ]
    assert serve.SERVICES["carrier"]().environment == {}


def test_the_operators_own_settings_of_the_c_library_stay(monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")

    assert "GLIBC_TUNABLES" not in serve.SERVICES["web"]().environment


def test_the_web_processes_of_one_port_count_together(settings, tmp_path):
    settings.A2A_VAR, settings.PORT = tmp_path, 4000

    environment = serve.SERVICES["web"]().environment

    assert environment["PROMETHEUS_MULTIPROC_DIR"] == str(tmp_path / "metrics-4000")
