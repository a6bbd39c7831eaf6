import pytest

from tests.support import record
from tests.support.record import BUDGET, Cost

pytestmark = pytest.mark.one_database

DATABASES = ("sqlite", "postgresql")


def forget():
    record._content.cache_clear()
    record.costs.cache_clear()


def test_the_gate_of_the_record_is_within_its_budget():
    spent = {database: sum(cost.of_gate for cost in record.costs(database).values()) for database in DATABASES}

    assert all(spent.values())
    assert sum(spent.values()) <= BUDGET, spent


def test_a_record_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "FILE", tmp_path / "costs.json")
    costs = {"tests/test_a.py::test_b": Cost(4, 0.5, 1.5, 2.0, 2, 1.25, 1, 0.5)}
    ran = {"tests/test_a.py::test_b": {"mailbox/a.py", "mailbox/c.py"}, "tests/test_b.py::test_c": {"mailbox/c.py"}}
    forget()

    record.write({"sqlite": costs}, ran, "abc")

    try:
        assert record.commit() == "abc"
        assert record.costs("sqlite") == costs
        assert record.ran() == ran
        assert record.costs("postgresql") == {}
    finally:
        forget()
