"""The official SDK reads the JSON of 1.0, with any blocks that a worker may post."""

from typing import Any

import pytest
from a2a.types import Artifact, Message

from mailbox.words.a2a import v1_0
from mailbox.words.a2a.fold import ArtifactRow, LifeMessage
from tests.support import official

pytestmark = pytest.mark.one_database

HUGE = 10**400
TYPED_WRONG = {"type": "text", "text": "x", "mediaType": 5}
BLOCKS: list[dict[str, Any]] = [{"type": "json", "value": [HUGE]}, TYPED_WRONG]
PARTS = [{"data": [str(HUGE)]}, {"data": TYPED_WRONG}]


def test_a_message_with_integers_beyond_a_double_is_read():
    said = LifeMessage(seq=2, message_id="m", blocks=BLOCKS, extra={"metadata": {"n": {"m": [HUGE, 1]}}})

    shown = v1_0.message(said, {"contextId": "c"})

    assert (shown["parts"], shown["metadata"]) == (PARTS, {"n": {"m": [str(HUGE), 1]}})
    official.read(shown, Message)


def test_an_artifact_with_integers_beyond_a_double_is_read():
    produced = ArtifactRow(artifact_id="a", blocks=BLOCKS, extra={"metadata": {"n": HUGE}})

    shown = v1_0.artifact(produced)

    assert (shown["parts"], shown["metadata"]) == (PARTS, {"n": str(HUGE)})
    official.read(shown, Artifact)
