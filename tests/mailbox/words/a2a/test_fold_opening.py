import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words.a2a.fold import Opening, opening_of

pytestmark = pytest.mark.one_database

BARE = [{"type": "text", "text": "hi"}]


def test_a_message_of_one_bare_text_is_stored_by_the_intent_text_alone():
    assert Opening(blocks=BARE, message_id="m").stored("hi") == {"message_id": "m"}


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "hi", "mediaType": "text/plain"}],
        [*BARE, *BARE],
        [{"type": "text", "text": " "}],
        [{"type": "json", "value": None}],
    ],
)
def test_another_message_is_stored_with_its_blocks(blocks):
    stored = Opening(blocks=blocks, message_id="m").stored("hi")

    assert stored == {"message_id": "m", "content": blocks}
    assert opening_of("hi", {"message": stored}).blocks == blocks


@pytest.mark.parametrize("metadata", [{}, {"message": "no message"}, {"other": {"message_id": "m"}}])
def test_a_task_without_a_stored_message_opens_with_its_intent_text(metadata):
    assert opening_of("hi", metadata) == Opening(blocks=BARE)


blocks = st.lists(st.builds(lambda text: {"type": "text", "text": text}, st.text()), min_size=1, max_size=3)
extras = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.just({"k": None}),
        "extensions": st.just(["urn:x"]),
        "reference_task_ids": st.just(["t"]),
    },
)
openings = st.builds(Opening, blocks=blocks, message_id=st.text(), is_agents=st.booleans(), extra=extras)


@given(openings, st.text())
def test_a_stored_message_is_read_back_as_it_was(opening, intent_text):
    assert opening_of(intent_text, {"message": opening.stored(intent_text)}) == opening
