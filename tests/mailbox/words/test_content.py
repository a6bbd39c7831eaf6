from typing import Any

import pytest

from mailbox.words import content

pytestmark = pytest.mark.one_database

WHOLE: list[dict[str, Any]] = [
    {"type": "text", "text": ""},
    {"type": "json", "value": None},
    {"type": "json", "value": {"deep": [1]}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "file:///a"}},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "text", "text": "x", "annotations": {"audience": ["user"]}},
]


@pytest.mark.parametrize("block", WHOLE)
def test_a_valid_block_has_no_problem(block):
    assert list(content.problems([block])) == []


@pytest.mark.parametrize(
    ("block", "path"),
    [(block, f"content.1.{key}") for block in WHOLE[:-1] for key in block if key != "type"],
)
def test_a_missing_key_is_reported_with_the_index_of_its_block(block, path):
    missing = {key: value for key, value in block.items() if not path.endswith(f".{key}")}

    assert [found for found, _ in content.problems([WHOLE[0], missing])] == [path]


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({}, "content.0.type"),
        ({"type": None}, "content.0.type"),
        ({"type": ["text"]}, "content.0.type"),
        ({"type": "video", "data": ""}, "content.0.type"),
        ({"type": "Text", "text": "x"}, "content.0.type"),
        ({"type": "text", "text": 1}, "content.0.text"),
        ({"type": "resource", "resource": []}, "content.0.resource"),
        ({"type": "text", "text": "\x00"}, "content.0"),
        ({"type": "json", "value": ["\ud800"]}, "content.0"),
        ({"type": "json", "value": float("nan")}, "content.0"),
        ("text", "content.0"),
        (None, "content.0"),
    ],
)
def test_an_invalid_block_is_reported_with_its_path(block, path):
    assert [found for found, _ in content.problems([block])] == [path]


def test_text_of_joins_only_text_blocks():
    assert content.text_of([{"type": "text", "text": "a"}, WHOLE[1], {"type": "text", "text": "b"}]) == "a\nb"
