import pytest

from dashboard.wording import json_tree
from dashboard.wording.json_tree import tree_of

ROOM = 10_000


def test_a_tree_has_each_member_with_its_key_or_position():
    tree, room = tree_of({"offers": [{"eur": 412}, None], "none": {}, "text": "a"}, ROOM)

    assert tree is not None
    assert [(one.label, one.text, one.is_branch) for one in tree.members] == [
        ("offers", "2 items", True),
        ("none", "{}", False),
        ("text", '"a"', False),
    ]
    first, second = tree.members[0].members
    assert (first.text, first.members[0].label, first.members[0].text) == ("1 member", "eur", "412")
    assert (second.label, second.text, second.left) == ("1", "null", 0)
    assert room < ROOM


@pytest.mark.parametrize("value", [1, "text", None, [], {}])
def test_a_bare_or_empty_value_has_no_tree(value):
    assert tree_of(value, ROOM) == (None, ROOM)


def test_a_tree_ends_where_its_room_ends_and_counts_the_rest():
    tree, room = tree_of(list(range(5_000)), ROOM)

    assert tree is not None
    assert room == 0
    assert 100 < len(tree.members) < ROOM // 64
    assert tree.left == 5_000 - len(tree.members)


def test_upper_levels_come_before_lower_levels():
    tree, _ = tree_of([list(range(5_000)), "last"], ROOM)

    assert tree is not None
    assert [(one.label, len(one.members) > 0) for one in tree.members] == [("0", True), ("1", False)]


def test_a_deep_value_is_cut_below_its_depth():
    value: object = 1
    for _ in range(60):
        value = [value]
    tree, _ = tree_of(value, ROOM)

    depth = 0
    while tree and tree.members:
        (tree,), depth = tree.members, depth + 1
    assert depth == json_tree.DEPTH
    assert tree is not None
    assert (tree.is_branch, tree.left) == (True, 1)


def test_long_keys_and_texts_are_cut():
    tree, _ = tree_of({"k" * 5_000: "x" * 5_000}, ROOM)

    assert tree is not None
    assert len(tree.members[0].label) + len(tree.members[0].text) < 350


def test_each_branch_has_the_path_that_leads_to_it():
    tree, _ = json_tree.tree_of({"offers": [{"a b": {"eur": 412}}]}, json_tree.MOST)

    assert tree is not None
    offers = tree.members[0]
    first = offers.members[0]
    named = first.members[0]
    assert [one.path for one in (tree, offers, first, named)] == [
        "$",
        "$.offers",
        "$.offers[0]",
        '$.offers[0]["a b"]',
    ]
    assert named.members[0].path == ""
