import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError

pytestmark = pytest.mark.one_database

HOSTILE = {
    "an empty text": (b"", "not JSON"),
    "half a document": (b'{"a":', "not JSON"),
    "two documents": (b"{} {}", "not JSON"),
    "a comment": (b"{} // no", "not JSON"),
    "single quotes": (b"{'a': 1}", "not JSON"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8"),
    "an overlong encoding": (b'"\xc0\x80"', "not UTF-8"),
    "an encoded surrogate": (b'"\xed\xa0\x80"', "not UTF-8"),
    "a cut character": (b'"\xe2\x82', "not UTF-8"),
    "a raw NUL": (b'"a\x00b"', "not JSON"),
    "a raw newline": (b'"a\nb"', "not JSON"),
    "an escaped NUL": (rb'"a\u0000b"', "NUL"),
    "an escaped NUL in a key": (rb'{"\u0000": 1}', "NUL"),
    "a high surrogate alone": (rb'["\ud800"]', "lone surrogate"),
    "a low surrogate alone": (rb'["\udc00 "]', "lone surrogate"),
    "surrogates in the wrong order": (rb'{"a": {"b": "\udc00\ud800"}}', "lone surrogate"),
    "a lone surrogate in a key": (rb'{"\ud800": 1}', "lone surrogate"),
    "a duplicate key": (b'{"a": 1, "b": 2, "a": 3}', "duplicate key 'a'"),
    "a duplicate key within": (b'[{"x": {"a": 1, "a": 1}}]', "duplicate key 'a'"),
    "the same key spelled twice": (rb'{"a": 1, "\u0061": 2}', "duplicate key 'a'"),
    "NaN": (b"[NaN]", "NaN is not JSON"),
    "Infinity": (b"Infinity", "Infinity is not JSON"),
    "-Infinity": (b'{"a": -Infinity}', "-Infinity is not JSON"),
    "a float too large": (b"[1e999]", "out of range"),
    "a float too small": (b"[-1e999]", "out of range"),
    "a float too near to zero": (b"[1e-400]", "out of range"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "it begins with a byte order mark; send UTF-8 without one"),
    "a bare control character": (b'["\n"]', "not JSON: Invalid control character at line 1 column 3"),
    "an integer of 4,301 digits": (b"9" * 4301, "4300 digits"),
    "65 levels of lists": (b"[" * 65 + b"]" * 65, "nesting"),
    "65 levels of objects": (b'{"a":' * 64 + b"{}" + b"}" * 64, "nesting"),
    "20,000 levels": (b"[" * 20_000 + b"]" * 20_000, "nesting"),
    "20,000 levels of objects": (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "nesting"),
    "20,000 levels unclosed": (b"[" * 20_000, "nesting"),
}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@pytest.mark.every_case
@pytest.mark.parametrize(("text", "problem"), HOSTILE.values(), ids=HOSTILE)
def test_unstorable_text_is_rejected_with_its_problem(text, problem):
    with pytest.raises(InvalidJsonError, match=problem):
        json_text.loads(text)


KEPT: dict[str, tuple[bytes, object]] = {
    "space around": (b" {} ", {}),
    "64 levels": (b"[" * 64 + b"]" * 64, None),
    "63 levels around a number": (b"[" * 63 + b"1" + b"]" * 63, None),
    "64 levels around a number": (b"[" * 64 + b"1" + b"]" * 64, None),
    "many brackets side by side": (b"[" + b"[]," * 200 + b"[]]", [[]] * 201),
    "4,300 digits": (b"9" * 4300, 10**4300 - 1),
    "a pair of surrogates": (rb'"\ud83d\ude00"', "😀"),
    "a backslash before what is no escape": (rb'"\\u0000"', r"\u0000"),
    "line separators": ('"\u2028 ü"'.encode(), "\u2028 ü"),
}


@pytest.mark.parametrize(("text", "value"), KEPT.values(), ids=KEPT)
def test_storable_text_is_read(text, value):
    read = json_text.loads(text)

    assert value is None or read == value


def test_an_unstorable_item_of_a_batch_is_marked_in_its_place():
    deepest = b"[" * 64 + b"]" * 64
    text = rb'{"a": {}, "items": [1, "\u0000", {"b": "\ud800"}, [' + deepest + b"], " + deepest + b"]}"

    one, *bad, last = json_text.loads(text, items="items")["items"]

    assert (one, json_text.problem_in(last)) == (1, None)
    assert [(type(item), item.problem) for item in bad] == [
        (json_text.Unstorable, "a string contains a NUL character"),
        (json_text.Unstorable, "a string contains a lone surrogate"),
        (json_text.Unstorable, "nesting deeper than 64 levels"),
    ]
    assert bad[1].item == {"b": "\ud800"}
    with pytest.raises(InvalidJsonError, match="nesting"):
        json_text.loads(text, items="a")


@given(json_values)
def test_written_values_read_back_equal(value):
    written = json_text.dumps(value)

    assert json_text.loads(written) == value
    assert json_text.same(json_text.loads(written.encode()), value)


@given(json_values)
def test_accepted_text_reads_as_the_standard_library_reads_it(value):
    spelled = json.dumps(value, indent=1)

    assert json_text.loads(spelled) == json.loads(spelled)


@given(st.binary(max_size=50))
def test_arbitrary_bytes_raise_no_other_error(text):
    with contextlib.suppress(InvalidJsonError):
        json_text.loads(text)


def test_text_is_written_compactly_and_unescaped():
    assert json_text.dumps({"a": [1, "ü"]}) == '{"a":[1,"ü"]}'


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": ["\x00"]}, "a string contains a NUL character"),
        ({"\ud800": 1}, "a string contains a lone surrogate"),
        ([float("inf")], "a number is out of range"),
        ({"a": {1, 2}}, "set is not JSON"),
        ({"a": b"x"}, "bytes is not JSON"),
        ({1: "a"}, "a key is not text"),
        ([10**4300], "an integer has more than 4300 digits"),
        ([10**4300 - 1], None),
        ({"a": [None, True, 1, 1.5, "x", {}]}, None),
    ],
)
def test_the_problem_of_an_unstorable_value_is_reported(value, problem):
    assert json_text.problem_in(value) == problem


@pytest.mark.parametrize("level", [1, 2])
def test_a_value_nests_as_deep_as_the_reader_reads(level):
    deepest: list[object] = []
    for _ in range(json_text.MAX_DEPTH - level):
        deepest = [deepest]

    assert json_text.problem_in(deepest, level=level) is None
    assert json_text.problem_in([deepest], level=level) == "nesting deeper than 64 levels"


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), ("[[", 0), ([], 1), ({}, 1), ([1, 2], 1), ({"a": [], "b": [{}]}, 3), ([[], [[1]]], 3)]
)
def test_the_levels_of_a_value_are_its_deepest_arrays_and_objects(value, levels):
    assert [json_text.is_deeper(value, limit) for limit in range(5)] == [levels > limit for limit in range(5)]


def test_a_value_that_contains_itself_is_too_deep():
    endless: list[object] = []
    endless.append(endless)

    assert json_text.problem_in(endless) == "nesting deeper than 64 levels"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        (1, True, False),
        (1, 1.0, False),
        (0, False, False),
        ("", None, False),
    ],
)
def test_values_are_compared_as_json(one, other, same):
    assert json_text.same(one, other) is same
