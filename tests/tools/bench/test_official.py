"""The short form of the section on the official protocol."""

from argparse import Namespace

import pytest

from tests.support.clients.environments import NotInstalledError
from tests.support.databases import database_of_its_own
from tools.bench import sdk_server
from tools.bench.sections import official

STREAMS = 40  # more than the waits of one agent
OPTIONS = {"blocking": 6, "batch": 4, "clients": 1, "seconds": 1.0, "runs": 1, "workers": 2, "streams": STREAMS}
MISSING = "The SDK's server was not measured"


@pytest.mark.processes
@pytest.mark.processes
@pytest.mark.one_database
def test_the_short_form_measures_the_hub_the_server_of_the_sdk_and_streams(tmp_path, official_clients):
    options = Namespace(**OPTIONS, rest=1.0, flow=20.0)
    with database_of_its_own() as url:
        found = official.measure(url or f"sqlite:///{tmp_path / 'hub.sqlite3'}", tmp_path, options)

    blocking, streams = found["blocking"], found["streams"]
    assert [name for name in official.SERVERS if not blocking[name]["per second"] > 0] == []
    assert [name for name in official.SERVERS if not 0 < blocking[name]["p50"] <= blocking[name]["p99"]] == []
    assert 1 <= blocking["hub"]["tasks in a batch"] <= OPTIONS["batch"]
    assert blocking["single calls"]["per second"] > 0
    held = streams["held"]
    assert (held["opened"], held["refused"], held["ended"]) == (STREAMS, 0, 0)
    assert held["signs"] >= STREAMS
    assert [when for when in ("before", "with") if not streams[when]["requests"] > 0] == []
    assert MISSING not in official.tables({"sqlite": found})


@pytest.mark.one_database
def test_without_the_environment_of_the_sdk_its_server_is_left_out(tmp_path, monkeypatch, capsys):
    def fail(*_: str) -> list[str]:
        raise NotInstalledError("make clients")

    monkeypatch.setattr(sdk_server, "python_driver", fail)
    with sdk_server.both(tmp_path) as servers:
        assert servers == {}
    assert capsys.readouterr().err == "make clients\n"


@pytest.mark.one_database
def test_the_tables_say_that_the_server_of_the_sdk_is_missing():
    once = {"per second": 400.0, "p50": 120.0, "p99": 200.0, "cpu ms": dict.fromkeys(official.SPENDERS, 1.0)}
    times = {"p50": 2.0, "p99": 9.0, "unanswered": 0, "requests": 8}
    streams = {
        "each": 500,
        "cost": {"web %": 3.0, "database %": 0.5, "memory MB": 200.0},
        "before": times,
        "with": times,
    }
    found = {"blocking": {"clients": 64, "hub": once, "single calls": once}, "streams": streams}

    tables = official.tables({"sqlite": found})

    assert "| SQLite, the hub | 64 | 400 | 120 | 200 | 1.00 | 1.00 | 1.00 | 1.00 | - |" in tables
    assert MISSING in tables
