"""The fold of an artifact's rows, which every reader of artifacts uses."""

from datetime import UTC, datetime, timedelta

from mailbox.models import Artifact
from mailbox.models.artifact import whole
from mailbox.words import json_text
from tests.support.factories import text

NOW = datetime(2035, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def rows(*chunks, first=2):
    """Return the rows of a task's artifacts, each from its id, its text, and the fields that it has besides."""
    return [
        Artifact(
            seq=seq,
            artifact_id=artifact_id,
            append=fields.pop("append", False),
            last_chunk=fields.pop("last_chunk", False),
            content=json_text.dumps(text(words)),
            extra=json_text.dumps(fields),
            said_at=NOW + seq * SECOND,
        )
        for seq, (artifact_id, words, fields) in enumerate(chunks, start=first)
    ]


def test_chunks_add_their_blocks_and_the_newest_row_completes():
    one, other = whole(
        rows(("a", "1", {}), ("b", "2", {"last_chunk": True}), ("a", "3", {"append": True, "last_chunk": True}))
    )

    assert (one.artifact_id, one.append, one.blocks) == ("a", False, [*text("1"), *text("3")])
    assert (one.seq, one.said_at, one.is_complete) == (4, NOW + 4 * SECOND, True)
    assert (other.artifact_id, other.blocks, other.seq, other.is_complete) == ("b", text("2"), 3, True)


def test_a_replacement_drops_earlier_rows_and_moves_behind_artifacts_that_were_placed_before():
    old = rows(("a", "1", {"name": "Old"}), ("a", "2", {"append": True, "last_chunk": True}), ("b", "3", {}))

    other, new = whole([*old, *rows(("a", "4", {}), first=5)])

    assert other.artifact_id == "b"
    assert (new.artifact_id, new.blocks, new.details, new.is_complete) == ("a", text("4"), {}, False)


def test_each_detail_is_as_the_newest_row_gave_it():
    (one,) = whole(
        rows(
            ("a", "1", {"name": "Draft", "description": "A list"}),
            ("a", "2", {"append": True, "name": "Report", "metadata": {"page": 1}}),
            ("a", "3", {"append": True, "metadata": {"pages": 2}}),
        )
    )

    assert one.details == {"name": "Report", "description": "A list", "metadata": {"pages": 2}}


def test_rows_that_begin_with_a_chunk_continue_an_artifact():
    (one,) = whole(rows(("a", "2", {"append": True}), ("a", "3", {"append": True})))

    assert (one.append, one.blocks) == (True, [*text("2"), *text("3")])
