import uuid
from datetime import timedelta

from dashboard.trees.rows import Forest, Selection
from tests.dashboard.trees.test_waterfall import at, bar

ROOT = uuid.UUID(int=1)


def child(number, *, of=ROOT, kind="", state="ok", sent=0, resolved=1):
    name = f"task {number}"
    return bar(sent, resolved, uuid=uuid.UUID(int=number), parent=of, name=name, kind=kind or name, state=state)


def shown(bars, now=10, **asked):
    rows = Forest(bars, ROOT, at(now)).rows(Selection(**asked))
    return [(row.depth, row.group.key if row.group else row.bar.uuid.int) for row in rows]


def family(size, *, failed=()):
    return [
        child(1, of=None),
        *(child(2 + n, kind="page", state="error" if n in failed else "ok") for n in range(size)),
    ]


def chain(length):
    return [child(1, of=None), *(child(n, of=uuid.UUID(int=n - 1)) for n in range(2, length + 1))]


def test_children_follow_their_parent_in_the_order_they_were_sent():
    bars = [child(1, of=None), child(2), child(3), child(4, of=uuid.UUID(int=2))]

    assert shown(bars) == [(0, 1), (1, 2), (2, 4), (1, 3)]


def test_children_of_a_missing_root_are_at_the_top_level():
    assert shown([child(2), child(3)]) == [(0, 2), (0, 3)]


def test_six_siblings_of_a_kind_fold_into_one_row_until_opened():
    key = f"{ROOT}.0"

    assert shown(family(5)) == [(0, 1), *((1, n) for n in range(2, 7))]
    assert shown(family(6)) == [(0, 1), (1, key)]
    assert shown(family(6, failed=[4]), opened={key: 20}) == [(0, 1), (1, key), *((2, n) for n in (6, 2, 3, 4, 5, 7))]


def test_an_opened_group_shows_the_given_number_and_counts_the_rest():
    rows = Forest(family(41), ROOT, at(9)).rows(Selection(opened={f"{ROOT}.0": 20}))

    assert rows[1].group is not None
    assert (rows[1].group.left, len(rows)) == (21, 22)


def test_siblings_are_grouped_by_recipient():
    bars = family(10)
    bars = [
        bars[0],
        *(
            bar(0, 1, uuid=one.uuid, parent=ROOT, kind="page", recipient=f"{n % 2}@local")
            for n, one in enumerate(bars[1:])
        ),
    ]

    assert len(shown(bars)) == 11


def test_a_large_tree_opens_two_levels_and_a_small_tree_all():
    large = chain(6) + [child(n, of=uuid.UUID(int=2)) for n in range(10, 210)]

    assert len(shown(chain(6))) == 6
    assert max(depth for depth, _ in shown(large)) == 2
    assert max(depth for depth, _ in shown(large, all_levels=True)) == 5


def test_a_folded_row_counts_its_descendants_and_can_be_opened():
    rows = Forest(chain(6), ROOT, at(9)).rows(Selection(depth=1))

    assert [(row.bar.uuid.int, row.hidden) for row in rows] == [(1, 0), (2, 4)]
    assert len(shown(chain(6), depth=1, opened={str(uuid.UUID(int=2)): 20})) == 3


def test_the_focused_task_is_never_folded_away():
    assert len(shown(chain(6), depth=1, focus=uuid.UUID(int=5))) == 5
    assert (2, 30) in shown(family(40), focus=uuid.UUID(int=30))


def test_a_filter_keeps_matching_tasks_and_their_ancestors():
    bars = [child(1, of=None), child(2), child(3, of=uuid.UUID(int=2), state="error"), child(4, resolved=9)]

    assert shown(bars, only="errors") == [(0, 1), (1, 2), (2, 3)]
    assert shown(bars, least=timedelta(seconds=5)) == [(0, 1), (1, 4)]
    assert shown(bars, only="open") == []


def test_ancestors_of_a_failed_task_are_marked():
    rows = Forest([child(1, of=None), child(2), child(3, of=uuid.UUID(int=2), state="expired")], ROOT, at(9)).rows(
        Selection()
    )

    assert [row.has_failed_below for row in rows] == [True, True, False]


def test_a_child_that_ended_after_its_parent_shows_the_difference():
    rows = Forest([child(1, of=None, resolved=3), child(2, resolved=8)], ROOT, at(9)).rows(Selection())

    assert [row.late for row in rows] == [timedelta(0), timedelta(seconds=5)]


def test_the_chain_is_the_last_task_to_end_at_each_level():
    forest = Forest(
        [child(1, of=None), child(2, resolved=5), child(3, resolved=9), child(4, of=uuid.UUID(int=2))], ROOT, at(9)
    )

    assert [one.uuid.int for one in forest.chain()] == [1, 3]


def test_tasks_in_a_cycle_of_parents_are_each_shown_once():
    bars = [child(1, of=uuid.UUID(int=3)), child(2), child(3, of=uuid.UUID(int=2))]

    assert shown(bars) == [(0, 1), (1, 2), (2, 3)]


def test_a_chain_of_2500_tasks_is_cut_at_2001_rows():
    assert len(shown(chain(2500), all_levels=True)) == 2001
