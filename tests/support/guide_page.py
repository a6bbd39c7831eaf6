"""The query language and the keys of the dashboard, from the words of its help page."""

import importlib
import os
from typing import Any

import django
from django.apps import apps


def queries() -> str:
    """Return the states of tasks, and a section for each list: the keys of its queries, and an example."""
    states = f"The states of a task are {', '.join(f'`{state}`' for state in _guide().STATES)}.\n\n"
    return states + "\n".join(
        f"## {title}\n\n| Key | |\n|---|---|\n{_rows(known, ':')}\nAn example: `{example}`\n"
        for title, _, known, example in _guide().LANGUAGES
    )


def keys() -> str:
    """Return a table of the keys of the keyboard."""
    return f"| Key | |\n|---|---|\n{_rows(_guide().KEYS)}"


def _guide() -> Any:
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
        django.setup()
    return importlib.import_module("dashboard.guide")


def _rows(meanings: dict[str, str], after: str = "") -> str:
    return "".join(f"| `{word}{after}` | {meaning} |\n" for word, meaning in meanings.items())
