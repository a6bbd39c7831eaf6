"""The queries of the page about monitoring run as written."""

import pytest
from django.db import connection

from mailbox.database import timetable
from tests.support import pages

PAGE = pages.page("docs/operate/monitoring.md")


@pytest.mark.django_db
def test_the_queries_to_watch_run_on_both_databases() -> None:
    (block,) = [text for language, text in pages.BLOCK.findall(PAGE) if language == "sql"]
    queries = [line for line in block.splitlines() if not line.startswith("--")]

    assert len(queries) == 6
    assert timetable.SWEEP_JOB in queries[0]
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
            assert cursor.fetchone() is not None
