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
Columns = Mapping[str, Callable[[Any], Any]]


def columns(text: str, **computed: Callable[[Any], Any]) -> Columns:
    """Return the columns of these names, each with its reader.

    ``name=path`` reads the path from the row: attributes, or keys of a mapping that may be missing. A last callable is
    called. A bare name is its own path, unless it is ``computed``.
    """
    pairs = [(name, path or name) for name, _, path in (column.partition("=") for column in text.split())]
    return {name: computed.get(name) or _reader(path.split(".")) for name, path in pairs}


def _reader(names: list[str]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else getattr(value, name)
        return value() if callable(value) else value

    return read


def record(row: object, of: Columns) -> dict[str, Any]:
    """Return the values of the columns as JSON has them: times and ids are texts."""
    return {name: _plain(read(row)) for name, read in of.items()}


def stream(rows: QuerySet[Row], of: Columns, form: str, name: str, query: str = "") -> StreamingHttpResponse:
    """Return the ``rows`` as a file, newest first, at most `MOST`. Its name tells the day and the ``query``.

    The header ``X-Truncated`` is set if there are more rows.
    """
    if form not in TYPES:
        raise Http404
    response = StreamingHttpResponse(_text(rows, of, form), status=HTTPStatus.OK, content_type=TYPES[form])
    words = filter(None, [name, f"{timezone.localdate()}", slugify(NOT_IN_A_NAME.sub("-", query))[:60]])
    response["Content-Disposition"] = f'attachment; filename="{"-".join(words)}.{form}"'
    if rows.order_by()[MOST : MOST + 1].exists():
        response["X-Truncated"] = f"the newest {MOST}"
    return response


def _text(rows: QuerySet[Row], of: Columns, form: str) -> Iterator[str]:
    if form == "csv":
        yield _line(of)
    for row, _ in paging.in_turn(rows, ("pk",), newest_first=True, most=MOST):
        values = record(row, of)
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
