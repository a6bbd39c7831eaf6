"""The bounds of batches over HTTP: the size of bodies and answers, and the rate of their items."""

from typing import Any

import pytest

from mailbox.access.limits import rates
from mailbox.database import paging
from tests.support import factories
from tests.support.api import Api, task_to
from tests.support.pauses import stop_rates

pytestmark = pytest.mark.django_db


def result_for(leased: dict[str, Any]) -> dict[str, Any]:
    return {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"], "status": "ok"}


@pytest.mark.django_db(transaction=True)
def test_an_answer_ends_at_four_mebibytes_and_loses_nothing(alice, bob):
    for _ in range(3):
        factories.sent_task(alice, bob, intent_text="x" * (paging.BUDGET // 2 - 10))

    sizes = [len(Api(bob).post("/a2a/tasks/lease", {"max": 9}).json()["leases"]) for _ in range(3)]

    assert sizes == [2, 1, 0]


@pytest.fixture
def limited(settings, monkeypatch):
    settings.WEB_WORKERS = 1
    settings.A2A_AGENT_REQUESTS_PER_S, settings.A2A_AGENT_REQUESTS_BURST = 1, 10
    stop_rates(monkeypatch)
    yield
    rates.forget()


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("number", [9, 10, 30])
def test_the_items_of_a_batch_count_as_requests(alice, bob, number):
    api = Api(alice)

    sent = api.post("/a2a/tasks/batch", {"tasks": [task_to(bob) for _ in range(number)]})

    assert (sent.status_code, len(sent.json()["posted"])) == (200, number)
    assert api.get("/a2a/queue").status_code == (200 if number < 10 else 429)


@pytest.mark.usefixtures("limited")
def test_leased_tasks_and_posted_results_count_as_requests(alice, bob):
    for _ in range(6):
        factories.sent_task(alice, bob)
    api = Api(bob)
    leased = api.post("/a2a/tasks/lease", {"max": 4}).json()["leases"]

    both = api.post("/a2a/tasks/lease", {"max": 4, "results": [result_for(one) for one in leased]}).json()

    assert (len(both["leases"]), len(both["posted"])) == (2, 4)
    assert api.get("/a2a/queue").status_code == 429


@pytest.mark.usefixtures("limited")
def test_drained_and_acknowledged_results_count_as_requests(alice, bob):
    for _ in range(5):
        factories.resolved_task(alice, bob)
    api = Api(alice)
    drained = api.post("/a2a/results/drain", {"max": 9}).json()["results"]

    done = api.post("/a2a/results/drain", {"max": 9, "ack": [one["task_id"] for one in drained]})

    assert done.status_code == 200
    assert api.get("/a2a/queue").status_code == 429
