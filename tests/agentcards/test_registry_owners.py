import pytest

from agentcards.registry import CardRegistry, CardTakenError
from mailbox.access.callers import Role
from mailbox.words.errors import CapabilityMissingError
from tests.agentcards.test_registry import card, told
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_repeating_a_registration_changes_and_journals_nothing(alice):
    registry = CardRegistry(alice)
    first = registry.register("job-1", card("canyon", "review"))
    before = factories.journal_length()

    again = registry.register("job-1", card("canyon", "review"))

    assert (again.pk, again.registered_at) == (first.pk, first.registered_at)
    assert factories.journal_length() == before


def test_registrations_are_journalled(alice):
    registry = CardRegistry(alice)
    registry.register("job-1", card("canyon", "review"))
    registry.register("job-2", card("canyon"))
    registry.deregister("job-2")

    registered = factories.journal("agent_card_registered")
    assert [row.fields for row in registered] == [
        {"job_id": "job-1", "name": "canyon", "skill_count": 1, "removed_job_ids": []},
        {"job_id": "job-2", "name": "canyon", "skill_count": 0, "removed_job_ids": ["job-1"]},
    ]
    assert {row.actor for row in registered} == {"alice@local"}
    assert factories.last_event().kind == "agent_card_deregistered"
    assert factories.last_event().fields == {"job_id": "job-2", "name": "canyon"}


@pytest.mark.parametrize(("job_id", "name"), [("job-1", "other"), ("job-2", "canyon"), ("job-1", "canyon")])
def test_another_agent_s_card_is_not_replaced(alice, mallory, job_id, name):
    CardRegistry(alice).register("job-1", card("canyon", "review"))

    with pytest.raises(CardTakenError, match="belongs to alice@local"):
        CardRegistry(mallory).register(job_id, card(name))

    assert told(CardRegistry().get("job-1")) == ("canyon", "Reviews architecture", ["review"])
    assert CardRegistry().count == 1


def test_another_agent_s_card_is_not_removed(alice, mallory):
    CardRegistry(alice).register("job-1", card())

    with pytest.raises(CardTakenError):
        CardRegistry(mallory).deregister("job-1")

    assert CardRegistry().count == 1


def test_an_agent_may_not_clear_the_registry(alice, mallory):
    CardRegistry(alice).register("job-1", card())

    with pytest.raises(CapabilityMissingError):
        CardRegistry(mallory).clear()

    assert factories.last_event().fields["missing_actions"] == ["a2a.registry.manage"]
    assert CardRegistry().count == 1


def test_operators_can_replace_and_remove_cards_without_becoming_their_owner(alice, olga):
    CardRegistry(alice).register("job-1", card("canyon"))

    CardRegistry(olga).register("job-1", card("gorge"))
    CardRegistry(alice).register("job-1", card("ravine"))
    removed = CardRegistry(olga).deregister("job-1")

    assert told(removed)[0] == "ravine"
    assert CardRegistry(olga).clear() == 0


def test_a_viewer_cannot_register_a_card():
    with pytest.raises(CapabilityMissingError):
        CardRegistry(factories.person("vera", Role.VIEWER)).register("job-1", card())

    assert CardRegistry().count == 0
