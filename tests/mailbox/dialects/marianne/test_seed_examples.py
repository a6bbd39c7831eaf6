"""The original's own examples of use, run as they are written, and its registry as its own tests use it."""

import pytest
from pydantic import ValidationError

from mailbox.dialects.marianne import A2AInbox, A2ASkill, A2ATask, A2ATaskStatus, AgentCard, AgentCardRegistry
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

REGISTRY = """
registry = AgentCardRegistry()

# On job start
card = AgentCard(name="canyon", description="...", skills=[...])
registry.register("job-123", card)

# Discovery
agents = registry.query()  # all running agents
architects = registry.query_by_skill("architecture-review")

# On job end
registry.deregister("job-123")
"""
INBOX = """
inbox = A2AInbox(job_id="j1", agent_name="canyon")

# Route a task
task = inbox.submit_task(
    source_job_id="j2",
    source_agent="forge",
    description="Review architecture for module X",
)

# Inject pending tasks into sheet context
context_text = inbox.render_pending_context()

# Mark tasks as accepted when injected
inbox.mark_accepted(task.task_id)

# Complete a task with results
inbox.complete_task(task.task_id, artifacts={"review": "..."})
"""
REVIEW = A2ASkill(id="architecture-review", description="Reads plans")


def run(example, **names):
    """Run an example beside these names; return all names that it leaves."""
    exec(example, names)  # noqa: S102 the example is a constant of this module
    return names


def card(name, *skills, description="does things"):
    return AgentCard(name=name, description=description, skills=[A2ASkill(id=one, description="") for one in skills])


@pytest.fixture
def registry():
    return AgentCardRegistry()


def test_the_example_of_the_registry_runs():
    example = REGISTRY.replace("[...]", "[review]")  # the one thing that it leaves open

    left = run(example, AgentCardRegistry=AgentCardRegistry, AgentCard=AgentCard, review=REVIEW)

    assert left["agents"] == left["architects"] == [left["card"]]
    assert left["architects"][0].skills[0].id == "architecture-review"
    assert left["registry"].count == 0


def test_the_example_of_the_inbox_runs():
    left = run(INBOX, A2AInbox=A2AInbox)

    done = left["inbox"].get_task(left["task"].task_id)
    assert isinstance(done, A2ATask)
    assert (done.status, done.artifacts) == (A2ATaskStatus.COMPLETED, {"review": "..."})
    assert "Review architecture for module X" in left["context_text"]


@pytest.mark.parametrize("name", ["Code Reviewer", "Canyon", "canyon", "a@b@c", "审查员", "x\n# y", " x "])
@pytest.mark.parametrize("description", ["", "Reviews\n\ncode", "№ 1"])
def test_a_card_comes_back_as_it_was_registered(registry, name, description):
    given = AgentCard(name=name, description=description, skills=[REVIEW, A2ASkill(id="", description=""), REVIEW])

    assert registry.register("job-1", given) is None
    assert registry.get("job-1") == given
    assert registry.get_job_id_for_agent(name) == "job-1"
    assert registry.deregister("job-1") == given
    assert (registry.get("job-1"), registry.deregister("job-1")) == (None, None)


def test_names_that_differ_in_case_only_are_two_agents(registry):
    registry.register("job-1", card("canyon"))
    registry.register("job-2", card("Canyon"))

    assert [registry.get_job_id_for_agent(name) for name in ("canyon", "Canyon", "CANYON")] == ["job-1", "job-2", None]


def test_a_job_has_one_card_and_a_name_one_job(registry):
    registry.register("job-1", card("canyon", "old"))
    registry.register("job-2", card("forge"))

    registry.register("job-1", card("forge", "new"))

    assert registry.query() == [card("forge", "new")]
    assert registry.get_job_id_for_agent("canyon") is registry.deregister("job-2") is None
    assert registry.query_by_skill("old") == []


def test_skills_are_found_exactly_and_in_the_order_of_registration(registry):
    cards = [card("forge", "review"), card("canyon", "review", "plan"), card("atlas", "reviewing")]
    for number, one in enumerate(cards):
        registry.register(f"job-{number}", one)

    assert registry.query() == cards
    assert registry.query_by_skill("review") == cards[:2]
    assert registry.clear() is None
    assert (registry.query(), registry.count) == ([], 0)


def test_a_card_that_is_changed_after_it_was_registered_is_not_stored(registry):
    mine = card("canyon")
    registry.register("job-1", mine)

    mine.skills.append(REVIEW)
    registry.query()[0].skills.append(REVIEW)

    assert registry.query() == [card("canyon")]


@pytest.mark.parametrize(
    ("job_id", "name", "message"),
    [("", "canyon", "job_id must not be empty"), ("j", "", "agent card name must not be empty")],
)
def test_an_empty_job_id_or_name_is_a_value_error(registry, job_id, name, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        registry.register(job_id, card(name))


def test_a_card_has_no_other_keys_than_the_originals():
    with pytest.raises(ValidationError, match="extra_forbidden"):
        AgentCard.model_validate({"name": "x", "description": "", "tags": []})
    assert AgentCard(name="x", description="").skills == []


def test_a_card_registered_over_http_is_found_in_process(registry, alice):
    body = {"name": "Code Reviewer", "description": "", "skills": [REVIEW.model_dump()]}
    answer = Api(alice).call("PUT", "/a2a/registry/job-9", body)

    assert answer.status_code == 200
    assert registry.query_by_skill(REVIEW.id) == [AgentCard.model_validate(body)]
    assert factories.journal("agent_card_registered")[0].actor == "alice@local"
