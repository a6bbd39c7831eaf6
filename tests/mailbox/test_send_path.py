"""How many modules of ours a plain send over HTTP enters; fewer is always welcome."""

import sys
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from types import FrameType

import pytest
from django.db import connection
from django.test import Client

from tests.support import factories
from tests.support.hub import ROOT

pytestmark = pytest.mark.django_db

MOST_MODULES = {"sqlite": 40, "postgresql": 41}


@pytest.fixture
def entered():
    """Return the modules of the product that a call enters."""

    def measure(call: Callable[[], object]) -> set[str]:
        modules: set[str] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            path = frame.f_code.co_filename
            if event == "call" and path.startswith(f"{ROOT}/") and "/." not in path:
                modules.add(str(Path(path).relative_to(ROOT)))

        before = sys.gettrace()
        sys.settrace(note)
        try:
            call()
        finally:
            sys.settrace(before)
        return {path for path in modules if not path.startswith(("tests/", "manage.py"))}

    return measure


def test_a_plain_send_enters_few_modules(alice, bob, entered):
    client = Client(headers={"Authorization": f"Bearer {factories.key_of(alice)}"})
    body = {"recipient": bob.party.display, "intent_text": "work"}

    def send() -> None:
        assert client.post("/a2a/tasks", body, content_type="application/json").status_code == HTTPStatus.OK

    send()

    assert len(entered(send)) <= MOST_MODULES[connection.vendor]
