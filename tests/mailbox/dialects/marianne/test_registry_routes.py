from urllib.parse import unquote

import pytest

from agentcards.models import AgentCard
from tests.support.api import Api

pytestmark = pytest.mark.django_db

CANYON = {"name": "canyon", "description": "Reviews", "skills": [{"id": "review", "description": "reads plans"}]}


def put(client, job_id, body):
    return client.put(f"/a2a/registry/{job_id}", body)


def test_a_card_is_registered_read_listed_and_removed(alice, bob):
    mine, other = Api(alice), Api(bob)

    registered = put(mine, "job-1", CANYON)
    seen = other.get("/a2a/registry/job-1")
    found = other.get("/a2a/registry?skill=review&name=canyon")
    removed = mine.delete("/a2a/registry/job-1")

    assert list(registered.json()) == ["kind", "job_id", "card", "registered_by", "registered_at_ms"]
    assert registered.json()["kind"] == "a2a_card_registered"
    assert registered.json()["card"] == CANYON
    assert registered.json()["registered_by"] == {"display": "alice@local", "pubkey": alice.agent.pubkey}
    assert seen.json() == registered.json() | {"kind": "a2a_card"}
    assert found.json()["kind"] == "a2a_cards"
    assert [row["card"] for row in found.json()["cards"]] == [CANYON]
    assert removed.json() == {"kind": "a2a_card_deregistered", "job_id": "job-1", "card": CANYON}
    assert other.get("/a2a/registry/job-1").status_code == 404


def test_repeated_requests_answer_the_same(alice):
    client = Api(alice)

    assert put(client, "job-1", CANYON).content == put(client, "job-1", CANYON).content
    client.delete("/a2a/registry/job-1")
    assert client.delete("/a2a/registry/job-1").json()["card"] is None


def test_an_unknown_job_is_404(alice):
    refused = Api(alice).get("/a2a/registry/job-1")

    assert (refused.status_code, refused.json()["code"], refused.json()["job_id"]) == (404, "unknown_card", "job-1")


def test_a_foreign_card_is_409_with_the_name_of_its_agent(alice, mallory):
    put(Api(alice), "job-1", CANYON)

    replaced = put(Api(mallory), "job-2", CANYON)
    removed = Api(mallory).delete("/a2a/registry/job-1")

    assert {replaced.status_code, removed.status_code} == {409}
    assert replaced.json()["code"] == "card_taken"
    assert "belongs to alice@local" in replaced.json()["message"]
    assert AgentCard.objects.get().job_id == "job-1"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "canyon"},
        {**CANYON, "name": ""},
        {**CANYON, "name": 1},
        {**CANYON, "name": "x" * 201},
        {**CANYON, "skills": None},
        {**CANYON, "skills": [{"id": "x"}]},
        {**CANYON, "skills": [{"id": "x", "description": "", "tags": []}]},
        {**CANYON, "skills": [{"id": "x", "description": ""}] * 1001},
        {**CANYON, "job_id": "job-1"},
    ],
)
def test_a_malformed_card_is_400(alice, body):
    refused = put(Api(alice), "job-1", body)

    assert refused.status_code == 400
    assert refused.json()["code"] == "invalid_request"
    assert not AgentCard.objects.exists()


@pytest.mark.parametrize("job_id", ["a/b", "a%0Ab", "%0A%C2%A4"])
def test_a_job_id_may_be_any_text_with_words(alice, job_id):
    client = Api(alice)

    registered = put(client, job_id, CANYON)

    assert registered.status_code == 200
    assert client.get(f"/a2a/registry/{job_id}").json()["job_id"] == registered.json()["job_id"] == unquote(job_id)


@pytest.mark.parametrize("job_id", ["%00", "x" * 201, "%20"])
def test_an_invalid_job_id_is_400_to_register_and_404_to_read(alice, job_id):
    client = Api(alice)

    assert put(client, job_id, CANYON).status_code == 400
    assert client.get(f"/a2a/registry/{job_id}").status_code == 404
    assert client.delete(f"/a2a/registry/{job_id}").json()["card"] is None


@pytest.mark.parametrize("query", ["skill=%00", "name=%00%ff", "name=%ED%A0%80", "skill=%F0%9F%A6%89"])
def test_a_hostile_query_lists_no_card(alice, query):
    put(Api(alice), "job-1", CANYON)

    assert Api(alice).get(f"/a2a/registry?{query}").json()["cards"] == []


def test_an_unknown_parameter_is_400(alice):
    assert Api(alice).get("/a2a/registry?job=1").status_code == 400
