"""All kinds of parts come back byte for byte, with their metadata, filename and media type."""

from __future__ import annotations

import base64

import pytest

from tests.support.clients.talk import NEW, OLD

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
