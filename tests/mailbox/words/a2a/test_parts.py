import base64

import pytest
from a2a.types import Part
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import content, json_text
from mailbox.words.a2a import parts
from mailbox.words.a2a.parts import admits, blocks_of, parts_of, standard_base64, text_of_parts
from tests.support import official

pytestmark = pytest.mark.one_database

META = {"k": [1, None]}
HUGE = 10**400  # no double holds it
PAIRS = [
    ({"text": "hi"}, {"type": "text", "text": "hi"}),
    ({"text": ""}, {"type": "text", "text": ""}),
    (
        {"text": "# a", "mediaType": "text/markdown", "filename": "a.md", "metadata": META},
        {"type": "text", "text": "# a", "mediaType": "text/markdown", "filename": "a.md", "metadata": META},
    ),
    ({"data": {"a": 1}}, {"type": "json", "value": {"a": 1}}),
    ({"data": None}, {"type": "json", "value": None}),
    (
        {"data": [1], "mediaType": "application/x+json", "filename": "a", "metadata": META},
        {"type": "json", "value": [1], "mediaType": "application/x+json", "filename": "a", "metadata": META},
    ),
    (
        {"raw": "aGk=", "mediaType": "image/png", "filename": "a.png", "metadata": META},
        {"type": "image", "data": "aGk=", "mimeType": "image/png", "filename": "a.png", "metadata": META},
    ),
    ({"raw": "", "mediaType": "Audio/WAV"}, {"type": "audio", "data": "", "mimeType": "Audio/WAV"}),
    (
        {"raw": "aGk=", "mediaType": "application/pdf", "filename": "my report.pdf", "metadata": META},
        {
            "type": "resource",
            "resource": {"uri": "attachment:my%20report.pdf", "blob": "aGk=", "mimeType": "application/pdf"},
            "filename": "my report.pdf",
            "metadata": META,
        },
    ),
    ({"raw": "aGk="}, {"type": "resource", "resource": {"uri": "attachment:", "blob": "aGk="}}),
    (
        {"raw": "aGk=", "mediaType": "image"},
        {"type": "resource", "resource": {"uri": "attachment:", "blob": "aGk=", "mimeType": "image"}},
    ),
    (
        {"url": "https://x/a", "mediaType": "text/csv", "filename": "a.csv", "metadata": META},
        {
            "type": "resource_link",
            "uri": "https://x/a",
            "name": "a.csv",
            "mimeType": "text/csv",
            "filename": "a.csv",
            "metadata": META,
        },
    ),
    ({"url": "https://x/a"}, {"type": "resource_link", "uri": "https://x/a", "name": "https://x/a"}),
    (
        {"url": "https://x/a", "filename": "https://x/a"},
        {"type": "resource_link", "uri": "https://x/a", "name": "https://x/a", "filename": "https://x/a"},
    ),
]


def accepted(part):
    """Let the official SDK read a part of 1.0. It refuses unknown fields and values of wrong types."""
    return official.read(part, Part)


@pytest.mark.parametrize(("part", "block"), PAIRS)
def test_a_part_and_its_block_are_each_other_s(part, block):
    assert blocks_of([part]) == [block]
    assert parts_of([block]) == [part]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/csv"}},
            {"text": "x", "mediaType": "text/csv", "metadata": {"uri": "file:///a"}},
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk"}},
            {"raw": "aGk=", "metadata": {"uri": "file:///a"}},
        ),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a", "description": "d", "size": 2},
            {"url": "file:///a", "filename": "a", "metadata": {"description": "d", "size": 2}},
        ),
        (
            {"type": "text", "text": "x", "annotations": {"priority": 1}, "metadata": {"k": 1}},
            {"text": "x", "metadata": {"annotations": {"priority": 1}, "k": 1}},
        ),
        ({"type": "text", "text": "x", "size": 1, "metadata": {"size": 2}}, {"text": "x", "metadata": {"size": 2}}),
        ({"type": "text", "text": "x", "mediaType": None, "filename": None}, {"text": "x"}),
        ({"type": "text", "text": "x", "mimeType": 5}, {"text": "x", "metadata": {"mimeType": 5}}),
        ({"type": "text", "text": "x", "metadata": 5}, {"text": "x", "metadata": {"metadata": 5}}),
        (
            {"type": "json", "value": {"n": [-HUGE, 2**1000]}, "metadata": {"n": HUGE}},
            {"data": {"n": [str(-HUGE), 2**1000]}, "metadata": {"n": str(HUGE)}},
        ),
        ({"type": "image", "data": "aG\nk=", "mimeType": "image/png"}, {"raw": "aGk=", "mediaType": "image/png"}),
        ({"type": "image", "data": "aGk=", "mimeType": ""}, {"raw": "aGk="}),
        (
            {"type": "image", "data": "é", "mimeType": "image/png"},
            {"data": {"type": "image", "data": "é", "mimeType": "image/png"}},
        ),
        ({"type": "resource", "resource": {}}, {"data": {"type": "resource", "resource": {}}}),
        ({"type": "video"}, {"data": {"type": "video"}}),
    ],
)
def test_a_block_from_elsewhere_has_a_part(block, part):
    assert parts_of([block]) == [part]
    accepted(part)


@pytest.mark.parametrize("wrong", [5, ["a"], {"a": 1}, False])
@pytest.mark.parametrize(
    ("block", "key"),
    [
        ({"type": "text", "text": "x"}, "mediaType"),
        ({"type": "text", "text": "x"}, "filename"),
        ({"type": "json", "value": {"a": 1}}, "mediaType"),
        ({"type": "json", "value": {"a": 1}}, "filename"),
        ({"type": "image", "data": "aGk="}, "mimeType"),
        ({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, "filename"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}, "filename"),
        ({"type": "resource_link", "uri": "https://x/a"}, "name"),
        ({"type": "resource_link", "uri": "https://x/a", "filename": "a"}, "name"),
        ({"type": "resource_link", "uri": "https://x/a", "name": "a"}, "mimeType"),
    ],
)
def test_a_block_whose_media_type_or_name_is_not_text_is_shown_as_data(block, key, wrong):
    [part] = parts_of([block | {key: wrong}])

    assert part == {"data": block | {key: wrong}}
    accepted(part)


@pytest.mark.parametrize("inner", [{"text": "x"}, {"blob": "aGk="}])
def test_a_resource_whose_media_type_is_not_text_is_shown_as_data(inner):
    block = {"type": "resource", "resource": {"uri": "file:///a", "mimeType": 5, **inner}}

    assert parts_of([block]) == [{"data": block}]


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"raw": "!"},
        {"text": 5},
        {"file": {"uri": "x"}},
        {"raw": "aGk=", "mediaType": {"a": 1}},
        {"url": "https://x", "filename": ["a"]},
        {"text": "x", "mediaType": 5},
    ],
)
def test_a_part_of_no_known_form_is_kept_as_json(part):
    assert blocks_of([part]) == [{"type": "json", "value": part}]


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
names = texts.filter(bool)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
media_types = st.sampled_from(
    ["text/plain", "image/png", "IMAGE/x", "audio/wav; a=b", "image", "a/b", "application/json"]
)
contents = (
    st.fixed_dictionaries({"text": texts})
    | st.fixed_dictionaries({"data": values})
    | st.fixed_dictionaries({"url": texts})
    | st.fixed_dictionaries({"raw": st.binary(max_size=8).map(lambda data: base64.b64encode(data).decode())})
)
besides = st.fixed_dictionaries(
    {}, optional={"mediaType": media_types, "filename": names, "metadata": objects.filter(bool)}
)
any_parts = st.builds(lambda one, beside: one | beside, contents, besides)


messages_parts = st.lists(any_parts, min_size=1, max_size=4)


@given(messages_parts)
def test_parts_come_back_equal_and_their_blocks_are_storable(given_parts):
    blocks = blocks_of(given_parts)

    assert list(content.problems(blocks)) == []
    assert json_text.same(parts_of(blocks), given_parts)
    assert blocks_of(parts_of(blocks)) == blocks


free = values | st.sampled_from([HUGE, -HUGE, 2**1024, 1e308])
free_values = free | st.lists(free, max_size=2) | st.dictionaries(texts, free, max_size=2)
required: dict[str, dict[str, st.SearchStrategy[object]]] = {
    "text": {"text": texts},
    "json": {"value": free_values},
    "image": {"data": texts | st.just("aGk="), "mimeType": texts | media_types},
    "audio": {"data": texts | st.just("aGk="), "mimeType": texts | media_types},
    "resource": {"resource": objects | st.fixed_dictionaries({"uri": texts, "text": values, "blob": values})},
    "resource_link": {"uri": texts, "name": texts},
}
BESIDE = ["mediaType", "mimeType", "filename", "metadata", "name"]
mcp_blocks = st.sampled_from(sorted(required)).flatmap(
    lambda kind: st.builds(
        lambda extra, own: extra | own,
        st.dictionaries(texts | st.sampled_from(BESIDE), free_values, max_size=3),
        st.fixed_dictionaries({"type": st.just(kind), **required[kind]}),
    )
)


@given(mcp_blocks)
def test_each_valid_block_has_one_part_that_comes_back_equal(block):
    assert list(content.problems([block])) == []

    [part] = parts_of([block])

    [kind] = {"text", "raw", "url", "data"} & part.keys()
    assert accepted(part).WhichOneof("content") == kind
    assert json_text.same(parts_of(blocks_of([part])), [part])


@pytest.mark.parametrize(
    ("given_parts", "text"),
    [
        ([{"text": "a"}, {"data": 1}, {"text": "b"}], "a\nb"),
        ([{"data": {"a": "ü"}}, {"raw": "", "filename": "f"}, {"data": None}], '{"a":"ü"}\nnull'),
        ([{"text": " "}, {"data": 1}], "1"),
        ([{"raw": "", "filename": "f"}, {"url": "https://x"}, {"raw": "", "mediaType": "a/b"}], "f\nhttps://x\na/b"),
        ([{"raw": "", "filename": " "}], parts.NO_NAME),
        ([{"text": "\n"}], parts.NO_TEXT),
        ([{"text": " a "}], " a "),
    ],
)
def test_the_text_of_parts_is_text_else_data_else_names(given_parts, text):
    assert text_of_parts(given_parts) == text


@given(st.lists(any_parts, max_size=3))
def test_the_text_of_parts_is_never_blank(given_parts):
    assert text_of_parts(given_parts).strip()


@pytest.mark.parametrize(
    ("modes", "media_type", "is_admitted"),
    [
        (["text/plain"], "text/plain", True),
        (["text/plain"], "Text/PLAIN; charset=utf-8", True),
        (["Text/Plain;x=y"], "text/plain", True),
        (["image/*"], "image/png", True),
        (["*/*"], "x/y", True),
        (["*/*"], "strange", True),
        (["text/plain", "image/*"], "application/json", False),
        (["image/*"], "imagery/png", False),
        ([], "text/plain", False),
        (["text/plain"], "", True),
    ],
)
def test_modes_admit_media_types(modes, media_type, is_admitted):
    assert admits(modes, media_type) is is_admitted


@given(st.binary(max_size=40), st.booleans(), st.booleans())
def test_base64_of_either_alphabet_is_made_standard(data, is_url_safe, is_padded):
    encoded = (base64.urlsafe_b64encode if is_url_safe else base64.b64encode)(data).decode()

    assert standard_base64(encoded if is_padded else encoded.rstrip("=")) == base64.b64encode(data).decode()


@pytest.mark.parametrize("text", ["A", "QQ=", "QQ===", "Q=Q=", "a b=", "é===", "aGk\n", "===="])
def test_other_text_is_no_base64(text):
    with pytest.raises(ValueError, match="base64"):
        standard_base64(text)
