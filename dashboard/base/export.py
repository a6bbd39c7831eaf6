"""Lists as CSV and JSON lines, streamed a few rows at a time."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify

from mailbox.database import paging
from mailbox.words import json_text

MOST = 100_000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
NOT_IN_A_NAME = re.compile(r"[^\w]+")
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
Row = TypeVar("Row", bound=Model)
Columns = Mapping[str, Callable[[Row], Any]]


def stream(rows: QuerySet[Row], columns: Columns[Row], form: str, name: str, query: str = "") -> StreamingHttpResponse:
    """Return the ``rows`` as a file, newest first, at most `MOST`. Its name tells the day and the ``query``.

    The header ``X-Truncated`` is set if there are more rows.
    """
    if form not in TYPES:
        raise Http404
    response = StreamingHttpResponse(_text(rows, columns, form), status=HTTPStatus.OK, content_type=TYPES[form])
    words = filter(None, [name, f"{timezone.localdate()}", slugify(NOT_IN_A_NAME.sub("-", query))[:60]])
    response["Content-Disposition"] = f'attachment; filename="{"-".join(words)}.{form}"'
    if rows.order_by()[MOST : MOST + 1].exists():
        response["X-Truncated"] = f"the newest {MOST}"
    return response


def _text(rows: QuerySet[Row], columns: Columns[Row], form: str) -> Iterator[str]:
    if form == "csv":
        yield _line(columns)
    for row, _ in paging.in_turn(rows, ("pk",), newest_first=True, most=MOST):
        values = {name: _plain(read(row)) for name, read in columns.items()}
        if form == "csv":
            yield _line(_cell(value) for value in values.values())
        else:
            yield f"{json_text.dumps(values)}\n"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _cell(value: Any) -> str:
    """Return the text of a cell. A quote stands before text that a spreadsheet would read as a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text


def _line(cells: Any) -> str:
    line = io.StringIO()
    # Every cell is quoted: some spreadsheets also split lines at semicolons or tabs.
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(list(cells))
    return line.getvalue()
