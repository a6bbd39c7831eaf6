"""Values that nest deeper than the official Python SDK reads."""

from typing import Any

import pytest
from a2a.types import StreamResponse
from google.protobuf.json_format import ParseError

from mailbox.words import json_text
from mailbox.words.a2a.parts import DEEPEST, parts_of, readable
from tests.support import official
from tests.support.nesting import nested

pytestmark = pytest.mark.one_database

Json = dict[str, Any]
META = {"k": [1, None]}
HUGE = 10**400  # no double holds it


def streamed(*given_parts: Json, **beside: Any) -> None:
    """Let the official SDK read an event with these parts where most messages are around them: in a status."""
    words = {"messageId": "m", "role": "ROLE_AGENT", "parts": list(given_parts), **beside}
    task = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING", "message": words}}
    official.read({"task": task}, StreamResponse)


@pytest.mark.parametrize("leaf", [1, "text", None, {}, []])
def test_data_at_the_deepest_level_is_shown_as_it_is(leaf: Any) -> None:
    levels = DEEPEST - (leaf in ({}, []))
    block: Json = {"type": "json", "value": nested(levels, leaf), "metadata": nested(levels, leaf)}

    [part] = parts_of([block])

    assert part == {"data": block["value"], "metadata": block["metadata"]}
    streamed(part, metadata=readable(block["metadata"]))


def test_the_official_sdk_reads_no_deeper_data() -> None:
    with pytest.raises(ParseError, match="too deep"):
        streamed({"data": nested(DEEPEST + 1)})


@pytest.mark.parametrize("levels", [DEEPEST + 1, json_text.MAX_DEPTH])
@pytest.mark.parametrize(
    ("beside", "media_type"), [({}, "application/json"), ({"mediaType": "application/x+json"}, "application/x+json")]
)
def test_deeper_data_is_shown_as_the_text_of_its_json(levels: int, beside: Json, media_type: str) -> None:
    value = nested(levels, HUGE)
    block = {"type": "json", "value": value, "filename": "a.json", "metadata": META, **beside}

    [part] = parts_of([block])

    assert part == {"text": json_text.dumps(value), "mediaType": media_type, "filename": "a.json", "metadata": META}
    assert json_text.loads(part["text"]) == value
    streamed(part)


def test_an_unknown_block_that_is_deep_is_shown_as_the_text_of_its_json() -> None:
    block = {"type": "video", "frames": nested(DEEPEST)}

    assert parts_of([block]) == [{"text": json_text.dumps(block), "mediaType": "application/json"}]


def test_a_deeper_value_in_metadata_is_shown_as_the_text_of_its_json() -> None:
    deep = nested(DEEPEST, 2)
    metadata = {"deep": deep, "k": 1, "n": [HUGE]}
    shown = {"deep": json_text.dumps(deep), "k": 1, "n": [str(HUGE)]}

    [part] = parts_of([{"type": "text", "text": "x", "metadata": metadata}])

    assert part == {"text": "x", "metadata": shown}
    assert readable(metadata) == shown
    streamed(part, metadata=shown)
