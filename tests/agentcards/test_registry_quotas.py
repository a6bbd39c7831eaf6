import pytest

from agentcards import registry
from agentcards.models import AgentCard
from agentcards.registry import CardRegistry
from mailbox.models import SenderStock
from mailbox.words.errors import QuotaExceededError
from tests.support import factories, races
from tests.support.api import Api

pytestmark = pytest.mark.django_db


def card(name, description=""):
    return AgentCard(name=name, description=description, skills=[])


def register(caller, number):
    return CardRegistry(caller).register(f"job-{number}", card(f"card-{number}"))


def test_an_agent_registers_cards_up_to_its_quota(alice, bob, settings):
    settings.A2A_QUOTA_CARDS = 2
    for number in range(2):
        register(alice, number)

    with pytest.raises(QuotaExceededError, match="its quota of 2 job cards"):
        register(alice, 2)
    register(bob, 3)
    (row,) = factories.journal("a2a_quota_exceeded")
    assert row.fields == {"quota": "cards", "agent": "alice@local", "limit": 2}


def test_a_card_is_replaced_at_the_quota(alice, settings):
    settings.A2A_QUOTA_CARDS = 1
    register(alice, 1)

    CardRegistry(alice).register("job-1", card("another name"))
    CardRegistry(alice).register("job-2", card("another name"))

    assert AgentCard.objects.get().job_id == "job-2"


def test_a_removed_card_makes_room(alice, settings):
    settings.A2A_QUOTA_CARDS = 1
    register(alice, 1)
    CardRegistry(alice).deregister("job-1")

    register(alice, 2)


def test_an_agent_may_have_a_quota_of_cards_of_its_own(alice):
    SenderStock.objects.create(agent=factories.row_of(alice), max_cards=0)

    with pytest.raises(QuotaExceededError):
        register(alice, 1)


def test_operators_register_cards_without_a_quota(olga, settings):
    settings.A2A_QUOTA_CARDS = 1
    for number in range(3):
        register(olga, number)

    assert AgentCard.objects.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", races.ROUNDS)
def test_racing_registrations_are_accepted_up_to_the_quota(alice, settings, round_):
    settings.A2A_QUOTA_CARDS = 3

    outcomes = races.race(*(lambda number=number: register(alice, number) for number in range(8)))

    assert [outcome.code for outcome in outcomes].count("quota_exceeded") == 5
    assert AgentCard.objects.count() == 3


def test_a_card_has_a_largest_size(alice):
    largest = registry.MOST_BYTES - len('["card","é"]'.encode()) + len("é".encode())

    CardRegistry(alice).register("job-1", card("card", "é" + "x" * (largest - 2)))
    with pytest.raises(ValueError, match="at most 65536"):
        CardRegistry(alice).register("job-1", card("card", "é" + "x" * (largest - 1)))


def test_a_card_beyond_a_limit_is_refused_over_http(alice, settings):
    settings.A2A_QUOTA_CARDS = 1
    register(alice, 1)
    body = {"name": "second", "description": "", "skills": []}

    response = Api(alice).put("/a2a/registry/job-2", body)
    assert (response.status_code, response.json()["code"]) == (429, "quota_exceeded")
    response = Api(alice).put("/a2a/registry/job-1", body | {"description": "x" * registry.MOST_BYTES})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
