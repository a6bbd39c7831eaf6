import threading

import pytest
from django.db import connection

from agentcards.models import AgentCard
from agentcards.registry import CardRegistry, CardTakenError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def registry():
    return CardRegistry()


def card(name="canyon", *skills, description="Reviews architecture"):
    return AgentCard(
        name=name, description=description, skills=[{"id": skill, "description": f"does {skill}"} for skill in skills]
    )


def told(row):
    return row and (row.name, row.description, [skill["id"] for skill in row.skills])


def test_register_and_query(registry):
    registry.register("job-123", card("canyon", "architecture-review"))

    assert [told(row) for row in registry.query()] == [("canyon", "Reviews architecture", ["architecture-review"])]
    assert told(registry.get("job-123")) == told(registry.query()[0])
    assert registry.count == 1


def test_query_is_in_the_order_of_registration(registry):
    for name in ("forge", "canyon", "atlas"):
        registry.register(f"job-{name}", card(name))

    assert [row.name for row in registry.query()] == ["forge", "canyon", "atlas"]


def test_deregister_returns_the_card_and_frees_job_id_and_name(registry):
    registry.register("job-1", card("canyon", "review"))

    removed = registry.deregister("job-1")

    assert told(removed) == ("canyon", "Reviews architecture", ["review"])
    assert (registry.get("job-1"), registry.get_job_id_for_agent("canyon"), registry.count) == (None, None, 0)


def test_deregister_of_an_unknown_job_returns_none(registry):
    assert registry.deregister("nothing") is None


def test_query_by_skill_matches_exactly(registry):
    registry.register("job-1", card("canyon", "review", "plan"))
    registry.register("job-2", card("forge", "reviewing"))

    assert [row.name for row in registry.query_by_skill("review")] == ["canyon"]
    assert registry.query_by_skill("rev") == []


def test_a_name_resolves_to_its_job(registry):
    registry.register("job-1", card("canyon"))

    assert registry.get_job_id_for_agent("canyon") == "job-1"
    assert registry.get_job_id_for_agent("Canyon") is None


def test_registering_a_taken_name_removes_the_other_job_s_card(registry):
    registry.register("job-1", card("canyon"))

    registry.register("job-2", card("canyon"))

    assert registry.count == 1
    assert registry.get("job-1") is None
    assert registry.get_job_id_for_agent("canyon") == "job-2"


def test_the_same_job_replaces_its_card_and_keeps_its_place(registry):
    registry.register("job-1", card("canyon", "old"))
    registry.register("job-2", card("forge"))

    registry.register("job-1", card("canyon", "new"))

    assert [told(row)[2] for row in registry.query()] == [["new"], []]
    assert registry.query_by_skill("old") == []


def test_a_replaced_card_s_old_name_no_longer_resolves(registry):
    registry.register("job-1", card("canyon"))

    registry.register("job-1", card("gorge"))

    assert registry.get_job_id_for_agent("canyon") is None
    assert registry.get_job_id_for_agent("gorge") == "job-1"


def test_a_job_can_change_its_name_to_another_job_s_name(registry):
    registry.register("job-1", card("canyon"))
    registry.register("job-2", card("forge"))

    registry.register("job-1", card("forge"))

    assert registry.count == 1
    assert registry.get_job_id_for_agent("canyon") is None
    assert registry.deregister("job-2") is None
    assert registry.get_job_id_for_agent("forge") == "job-1"


def test_clear_removes_all(registry):
    for number in range(3):
        registry.register(f"job-{number}", card(f"agent-{number}"))

    assert registry.clear() == 3
    assert (registry.count, registry.query(), registry.clear()) == (0, [], 0)


@pytest.mark.parametrize(
    ("job_id", "name", "message"),
    [
        ("", "canyon", "job_id must not be empty"),
        ("job-1", "", "agent card name must not be empty"),
        ("", "", "job_id must not be empty"),
        ("job\x00", "canyon", "job_id contains a NUL character"),
        ("job-1", "c\ud800", "agent card name contains a lone surrogate"),
        ("j" * 201, "canyon", "job_id is longer than 200 characters"),
        ("job-1", "c" * 201, "agent card name is longer than 200 characters"),
    ],
)
def test_invalid_ids_and_names_raise_value_error(registry, job_id, name, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        registry.register(job_id, card(name))

    assert str(refused.value) == message
    assert registry.count == 0


@pytest.mark.parametrize(
    "skills", [["review"], [{"id": "x"}], [{"id": "x", "description": "", "tags": []}], [{"id": 1, "description": ""}]]
)
def test_malformed_skills_raise_value_error(registry, skills):
    with pytest.raises(ValueError, match=r"skill"):
        registry.register("job-1", AgentCard(name="canyon", description="", skills=skills))


@pytest.mark.parametrize("text", ["\x00", "\ud800", "x" * 10_000, "'; DROP TABLE agentcards_agentcard; --"])
def test_lookups_by_unknown_or_unstorable_text_return_nothing(registry, text):
    registry.register("job-1", card())

    assert registry.get(text) is registry.deregister(text) is registry.get_job_id_for_agent(text) is None
    assert registry.query_by_skill(text) == []
    assert registry.count == 1


def test_empty_texts_and_duplicate_skill_ids_are_kept(registry):
    registry.register("job-1", card("canyon", "", "a", "a", description=""))

    assert told(registry.get("job-1")) == ("canyon", "", ["", "a", "a"])


def test_changes_to_a_card_object_after_registering_are_not_stored(registry):
    mine = card("canyon", "review")
    registry.register("job-1", mine)

    mine.skills.append({"id": "sneaked", "description": ""})

    assert registry.query_by_skill("sneaked") == []


def test_pages_filter_before_they_limit(registry):
    for number in range(9):
        registry.register(f"job-{number}", card(f"agent-{number}", "even" if number % 2 == 0 else "odd"))

    first = registry.look(skill="even", limit=3)
    second = registry.look(skill="even", limit=3, cursor=first.next_cursor)

    assert [row.name for row in first.items] == ["agent-0", "agent-2", "agent-4"]
    assert [row.name for row in second.items] == ["agent-6", "agent-8"]
    assert second.next_cursor is None
    assert [row.name for row in registry.look(name="agent-3").items] == ["agent-3"]
    assert registry.look(name="agent-3", skill="even").items == []


def at_once(*works):
    """Run the functions in threads that start together; return the result or exception of each."""
    outcomes: list[object] = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(number, work):
        barrier.wait()
        try:
            outcomes[number] = work()
        except Exception as error:  # noqa: BLE001
            outcomes[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number, work)) for number, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_jobs_that_race_for_a_name_leave_exactly_one_card():
    jobs = [f"job-{number}" for number in range(8)]
    outcomes = at_once(*(lambda job=job: CardRegistry().register(job, card("canyon")) for job in jobs))

    assert all(isinstance(outcome, AgentCard) for outcome in outcomes), outcomes
    assert CardRegistry().count == 1
    assert CardRegistry().get_job_id_for_agent("canyon") in jobs


@pytest.mark.django_db(transaction=True)
def test_jobs_that_swap_names_at_once_leave_each_name_with_one_job():
    CardRegistry().register("job-0", card("name-0"))
    CardRegistry().register("job-1", card("name-1"))

    works = [
        lambda job=job, name=name: CardRegistry().register(f"job-{job}", card(f"name-{name}"))
        for job in range(3)
        for name in range(3)
    ]
    outcomes = at_once(*works)

    assert all(isinstance(outcome, AgentCard) for outcome in outcomes), outcomes
    for row in CardRegistry().query():
        assert CardRegistry().get_job_id_for_agent(row.name) == row.job_id


@pytest.mark.django_db(transaction=True)
def test_only_one_of_the_agents_that_race_for_a_job_id_gets_it():
    agents = [factories.agent(f"agent{number}") for number in range(5)]
    outcomes = at_once(
        *(
            lambda agent=agent, n=number: CardRegistry(agent).register("job", card(f"n{n}"))
            for number, agent in enumerate(agents)
        )
    )

    won = [outcome for outcome in outcomes if isinstance(outcome, AgentCard)]
    assert len(won) == 1
    assert sum(isinstance(outcome, CardTakenError) for outcome in outcomes) == 4
    assert AgentCard.objects.get().registered_by == won[0].registered_by
