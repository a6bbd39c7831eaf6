import pytest

from mailbox.dialects.base import texts
from mailbox.dialects.marianne.registry_views import RegistryView
from mailbox.dialects.marianne.views import InboxView

pytestmark = pytest.mark.one_database


def test_each_code_stands_once_with_its_status_its_meaning_and_advice() -> None:
    rows = texts.error_codes()

    assert len({row.code for row in rows}) == len(rows)
    assert [row.code for row in rows if not (row.meaning and row.advice)] == []
    assert [row.status for row in rows] == sorted(row.status for row in rows)
    assert next(row.status for row in rows if row.code == "lease_mismatch") == 409


def test_there_is_advice_for_the_codes_that_there_are() -> None:
    tables = (InboxView.error_status, RegistryView.error_status)

    assert {row.code for table in tables for row in texts.error_codes(table)} == texts.all_texts().advice.keys()


def test_the_table_has_a_line_for_each_code() -> None:
    rows = texts.error_codes()

    assert texts.table_of_codes(rows).count("\n") == len(rows) + 2
    assert "| `unknown_task` | 404 | No such task is known to this caller. | Check the id" in texts.table_of_codes(rows)
