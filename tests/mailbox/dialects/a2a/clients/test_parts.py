"""All kinds of parts come back byte for byte, with their metadata, filename and media type."""

import base64

import pytest

from mailbox.words import json_text
from mailbox.words.a2a.parts import DEEPEST
from tests.support.clients.readings import Piece, text_of
from tests.support.clients.talk import NEW, OLD
from tests.support.nesting import nested

BYTES = base64.b64encode(bytes(range(256))).decode()
BESIDE = {"metadata": {"lang": "en", "deep": {"list": [1, "two", None]}}}

PARTS = [
    {"text": "grüße\n\t\u2028 done", "mediaType": "text/markdown", "filename": "note.md", **BESIDE},
    {"raw": BYTES, "mediaType": "application/pdf", "filename": "paper.pdf", **BESIDE},
    {"raw": BYTES, "mediaType": "image/png", "filename": "picture.png"},
    {"raw": BYTES, "mediaType": "audio/wav"},
    {"raw": BYTES, "filename": "nameless"},
    {"url": "https://example.com/a%20b?c=d", "mediaType": "video/mp4", "filename": "film.mp4", **BESIDE},
    {"url": "https://example.com/bare"},
    {"data": {"answer": 42, "nested": {"list": [True, None, 1.5, "x"]}}, "mediaType": "application/json", **BESIDE},
    {"data": ["a", "list"]},
    {"data": "a text"},
    {"data": 7},
]
OLD_PARTS = [
    {"kind": "text", "text": "grüße\n\t\u2028 done", **BESIDE},
    {"kind": "file", "file": {"bytes": BYTES, "mimeType": "application/pdf", "name": "paper.pdf"}, **BESIDE},
    {"kind": "file", "file": {"bytes": BYTES, "mimeType": "image/png", "name": "picture.png"}},
    {"kind": "file", "file": {"bytes": BYTES}},
    {"kind": "file", "file": {"uri": "https://example.com/a%20b?c=d", "mimeType": "video/mp4", "name": "film.mp4"}},
    {"kind": "file", "file": {"uri": "https://example.com/bare"}},
    {"kind": "data", "data": {"answer": 42, "nested": {"list": [True, None, 1.5, "x"]}}, **BESIDE},
]


def come_back(talk, first, parts):
    task = talk.task(parts=[first, *parts])

    found = talk.get(task.id)
    assert [part for words in found.history if words.role == "user" for part in words.parts] == [first, *parts]
    assert [part for words in found.history if words.role == "agent" for part in words.parts] == [first, *parts]
    (artifact,) = found.raw["artifacts"]
    assert artifact["parts"] == [first, *parts]


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_every_part_of_1_0_comes_back_as_it_was(talk):
    come_back(talk, {"text": "parts"}, PARTS)


@pytest.mark.parametrize("sdk", OLD, ids=str)
def test_every_part_of_0_3_comes_back_as_it_was(talk):
    come_back(talk, {"kind": "text", "text": "parts"}, OLD_PARTS)


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_data_of_the_deepest_level_comes_back_as_it_was(talk):
    come_back(talk, {"text": "parts"}, [{"data": nested(DEEPEST), "metadata": nested(DEEPEST)}])


def parts_in(task):
    """Return the parts in all places of a task."""
    said = [part for words in (*task.history, task.words) for part in words.parts]
    return [*said, *(part for made in task.raw["artifacts"] for part in made["parts"])]


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_deeper_data_comes_as_the_text_of_its_json_and_hides_no_task(talk, stage):
    hold, deep = {"text": "hold"}, nested(DEEPEST + 1, "leaf")
    shown = {"text": json_text.dumps(deep), "mediaType": "application/json"}
    stream = talk.stream(parts=[hold, {"data": deep}])
    first = stream.until("working")[0]
    held = stage.player.next_held()
    block = {"type": "json", "value": deep}
    held.update({"message": [block]}, {"artifact": {"artifact_id": "a", "content": [block]}}).raise_for_status()

    task = talk.get(first.id)
    (listed,) = talk.driven.do("list", {"contextId": task.context, "includeArtifacts": True})["tasks"]
    held.result(status="ok", content=[block], message=[block]).raise_for_status()

    assert held.blocks[1] == block
    assert text_of(listed["status"]["message"]["parts"]) == text_of(listed["artifacts"][0]["parts"]) == shown["text"]
    assert parts_in(task) == [hold, shown, shown, shown]
    told = [event.raw["parts"] if isinstance(event, Piece) else event.words.parts for event in stream.rest()]
    assert told == [[shown]] * 4
    assert parts_in(talk.get(first.id)) == [hold, *[shown] * 5]
