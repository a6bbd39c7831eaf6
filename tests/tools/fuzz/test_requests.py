import json
import threading
from collections.abc import Iterator

import pytest

from tests.support.http_servers import Handler, serving
from tools.fuzz import requests
from tools.fuzz.requests import Sender

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

ANSWER = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "paths": {f"/{name}": {"get": {"responses": ANSWER}} for name in ("silent", "good", "broken", "other")},
}
ANSWERS = {"/api/schema/": (200, DOCUMENT), "/good": (200, {}), "/broken": (500, {}), "/other": (200, [])}


class Answering(Handler):
    released = threading.Event()

    def answer(self, body: bytes) -> None:
        path = self.path.partition("?")[0]
        if path not in ANSWERS:
            self.released.wait()
        status, value = ANSWERS.get(path, (200, {}))
        self.send(status, json.dumps(value).encode(), ("Content-Type", "application/json"))


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Answering) as url:
        yield url
        Answering.released.set()


def test_a_server_error_an_undocumented_answer_and_silence_are_defects(url, monkeypatch):
    monkeypatch.setattr(requests, "PATIENCE", 1.0)
    sender = Sender(url, {"agent": None}, ["bob"], seed=1)

    sender.send(3)

    defects = " ".join(sender.answers.defects)
    assert "GET /good" not in defects
    assert "GET /broken: " in defects
    assert "GET /other: " in defects
    assert "no answer within 1 s: GET /silent" in defects
    assert sender.answers.statuses.keys() == {200, 500}
