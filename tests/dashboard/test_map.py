"""The map shows who sends to whom, as a picture and as a table."""

import pytest
from django.utils import timezone

from mailbox.upkeep import rollups
from mailbox.words.envelopes import ResultStatus
from tests.mailbox.upkeep.test_rollups_pair_counts import LATER
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize("scale", ["1h", "24h"])
def test_a_map_shows_volume_errors_and_backlog(vic, alice, bob, is_counted, scale):
    factories.resolved_task(alice, bob)
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    factories.sent_task(alice, bob)
    if is_counted:
        rollups.count_pairs(timezone.now() + LATER)

    response = vic.get("/ops/map/", {"range": scale})

    page = squeezed(response.text)
    (edge,) = response.context["map"].edges
    assert (edge.sent, edge.results, edge.errors, edge.level) == (3, 2, 1, "many")
    assert {node.name: node.queued for node in response.context["map"].nodes} == {"alice@local": 0, "bob@local": 1}
    assert page.count('href="/ops/tasks/?q=from:alice%40local+to:bob%40local"') == 2
    assert 'href="/ops/agents/bob@local/"' in page
    assert "✕ 50 %" in page
    assert "○ 1" in page


def test_the_table_is_a_view_of_its_own(vic, alice, bob):
    factories.sent_task(alice, bob)

    page = vic.get("/ops/map/", {"view": "table"}).text

    assert "<svg viewBox" not in page
    assert "bob@local" in page


def test_an_empty_map_says_so_and_an_unknown_range_is_refused(vic):
    assert "No tasks in the last 1 h" in squeezed(vic.get("/ops/map/").text)
    assert vic.get("/ops/map/", {"range": "7d"}).status_code == 400
    assert vic.get("/ops/map/", {"view": "globe"}).status_code == 400


def test_a_map_needs_few_queries(vic, alice, bob, django_assert_max_num_queries):
    factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(10):
        vic.get("/ops/map/")
