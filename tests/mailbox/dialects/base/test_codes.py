import pytest

from mailbox.dialects.base import http_errors
from mailbox.dialects.marianne.registry_views import RegistryView
from mailbox.dialects.marianne.views import InboxView

pytestmark = pytest.mark.one_database


def test_each_code_stands_once_with_its_status_its_meaning_and_advice() -> None:
    rows = http_errors.error_codes()

    assert len({row.code for row in rows}) == len(rows)
    assert [row.code for row in rows if not (row.meaning and row.advice)] == []
    assert [row.status for row in rows] == sorted(row.status for row in rows)
    assert next(row.status for row in rows if row.code == "lease_mismatch") == 409


def test_there_is_advice_for_the_codes_that_there_are() -> None:
    tables = (InboxView.error_status, RegistryView.error_status)

    assert {row.code for table in tables for row in http_errors.error_codes(table)} == http_errors.ADVICE.keys()


def test_the_table_has_a_line_for_each_code() -> None:
    rows = http_errors.error_codes()

    assert http_errors.table_of_codes(rows).count("\n") == len(rows) + 2
    assert (
        "| `unknown_task` | 404 | No such task is known to this caller. | Check the id"
        in http_errors.table_of_codes(rows)
    )
