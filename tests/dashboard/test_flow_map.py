import pytest

from dashboard import flow_map
from mailbox.inspection.statistics.agents import Pair
from mailbox.models import Agent


def agents(*names):
    made = {}
    for number, name in enumerate(names, 1):
        made[number] = Agent(pk=number, display=name)
        setattr(made[number], "queued", 0)  # noqa: B010 - the attribute is an annotation
    return made


def test_the_same_data_gives_the_same_picture_in_any_order():
    named = agents("a@x", "b@x", "c@x")
    pairs = [Pair(1, 2, 5, 4, 1), Pair(2, 1, 3, 3, 0), Pair(3, 3, 1, 0, 0)]

    assert flow_map.draw(pairs, named) == flow_map.draw(pairs[::-1], named)


def test_width_follows_the_volume_and_the_level_the_share_of_errors():
    named = agents("a@x", "b@x", "c@x")
    pairs = [Pair(1, 2, 100, 100, 0), Pair(1, 3, 25, 20, 1), Pair(2, 3, 1, 4, 1), Pair(3, 2, 1, 0, 0)]

    edges = flow_map.draw(pairs, named).edges

    assert [edge.sent for edge in edges] == [100, 25, 1, 1]
    assert edges[0].width > edges[1].width > edges[2].width > 0
    assert [edge.level for edge in edges] == ["none", "some", "many", "none"]
    assert [edge.error_share for edge in edges] == [0, 5, 25, None]


def test_the_busiest_agents_have_names_and_the_rest_is_one_node(monkeypatch):
    monkeypatch.setattr(flow_map, "AGENTS", 2)
    pairs = [Pair(1, 2, 9, 0, 0), Pair(1, 3, 2, 0, 0), Pair(4, 3, 1, 1, 1)]

    busiest = flow_map.busiest(pairs)
    drawn = flow_map.draw(pairs, {pk: agent for pk, agent in agents(*"abcd").items() if pk in busiest})

    assert busiest == [1, 2]
    assert [node.name for node in drawn.nodes] == ["a", "b", "others"]
    assert drawn.has_others
    assert not flow_map.draw(pairs, agents(*"abcd")).has_others
    assert {(edge.sender, edge.recipient, edge.sent) for edge in drawn.edges} == {
        ("a", "b", 9),
        ("a", "others", 2),
        ("others", "others", 1),
    }
    assert [edge.is_whole for edge in drawn.edges] == [True, False, False]


def test_a_map_draws_a_bounded_number_of_edges(monkeypatch):
    monkeypatch.setattr(flow_map, "EDGES", 2)
    pairs = [Pair(1, 2, 3, 0, 0), Pair(2, 1, 2, 0, 0), Pair(1, 1, 1, 0, 0)]

    drawn = flow_map.draw(pairs, agents("a", "b"))

    assert [edge.sent for edge in drawn.edges] == [3, 2]
    assert drawn.left_out == 1


@pytest.mark.parametrize("count", [1, 2, 41])
def test_all_nodes_and_labels_lie_within_the_picture(count):
    named = agents(*(f"agent-{number}" for number in range(count)))
    pairs = [Pair(pk, pk % count + 1, pk, 0, 0) for pk in named]

    for node in flow_map.draw(pairs, named).nodes:
        assert 0 < node.x < flow_map.WIDTH
        assert 12 < node.label_y < flow_map.HEIGHT
