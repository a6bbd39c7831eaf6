"""The page of benchmarks says what its record says. `tests/docs/test_generate.py` compares both as they stand."""

import json

import pytest

from tools.bench import page, record
from tools.bench.sections import SECTIONS

pytestmark = pytest.mark.one_database

STAMP = {
    "at": "2035-01-01 12:00",
    "commit": "abc1234",
    "has_changes": False,
    "cores": 2,
    "cpu": "a processor",
    "memory_gb": 8,
    "kernel": "Linux 7",
    "python": "3.11.7",
    "database": "SQLite 3.45.1",
    "load_before": 0.25,
}


def test_the_kept_record_names_known_sections_with_their_machine_and_options():
    kept = record.load(record.KEPT)

    assert kept.keys() <= SECTIONS.keys()
    for name, databases in kept.items():
        for measured in databases.values():
            assert measured["stamp"].keys() == STAMP.keys()
            assert measured["options"].keys() == set(SECTIONS[name].options)


def test_a_section_replaces_its_own_figures_and_keeps_the_others(tmp_path):
    file = tmp_path / "record.json"
    for section, database, value in (("queue", "sqlite", 1), ("queue", "postgresql", 2), ("queue", "sqlite", 3)):
        record.put(file, section, database, {"figures": {"p50": value}})
    record.put(file, "cycles", "sqlite", {"figures": {}})

    found = json.loads(file.read_text())

    assert found["queue"] == {"sqlite": {"figures": {"p50": 3}}, "postgresql": {"figures": {"p50": 2}}}
    assert found.keys() == {"queue", "cycles"}


def test_a_block_holds_the_figures_and_the_machine():
    figures = {"queued": 1_000_000, "clients": 4, "leases per second": 123.4, "p50": 1.25, "p99": 9.04}

    block = page.block("queue", {"queue": {"sqlite": {"stamp": STAMP, "figures": figures}}})

    assert "| SQLite | 1,000,000 | 4 | 123 | 1.2 | 9.0 |" in block
    assert "- SQLite 3.45.1: 2035-01-01 12:00 UTC, commit `abc1234`. 2 cores (a processor), 8 GB" in block


def test_a_section_without_figures_says_so():
    assert page.block("queue", {}) == page.NOT_MEASURED


def test_numbers_keep_four_digits(tmp_path):
    record.put(tmp_path / "record.json", "queue", "sqlite", {"a": [1234.56, {"b": 0.000123456}], "c": 7})

    assert record.load(tmp_path / "record.json")["queue"]["sqlite"] == {"a": [1235.0, {"b": 0.0001235}], "c": 7}


@pytest.mark.processes
def test_a_stamp_names_the_commit_and_the_machine():
    stamp = record.stamp("sqlite:///unused")

    assert stamp.keys() == STAMP.keys()
    assert str(stamp["database"]).startswith("SQLite 3.")
    assert all(value not in ("", None) for value in stamp.values())
