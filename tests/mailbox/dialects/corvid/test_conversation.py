"""The requests of corvid-agent's client to a peer, sent to a served hub. Its base URL is its only credential."""

import threading
import time

import httpx
import pytest

from a2a_hub_client import Answer
from tests.support import factories
from tests.support.hub import PATIENCE
from tests.support.own_client import client_of

pytestmark = pytest.mark.processes

# As recorded: content type and user agent on the submission, the same without a content type on each look.
SUBMIT_HEADERS = {"Content-Type": "application/json", "User-Agent": "CorvidAgent/A2A-Client"}
LOOK_HEADERS = {"User-Agent": "CorvidAgent/A2A-Client"}
LOOK_EVERY = 0.2  # the client's own rhythm is 3 s: the hub cannot tell, and the test need not wait


@pytest.fixture
def base_url(transactional_db, served_hub):
    """Return the hub's address as an operator would enter it at the peer: a route that speaks for alice."""
    alice = factories.agent("alice", "a2a.send.*")
    return f"{served_hub.url}{factories.route(alice)}"


@pytest.fixture
def worker(served_hub, base_url):
    bob = factories.agent("bob", "a2a.respond.*")
    factories.profile(bob, default_project="main")
    with client_of(served_hub.url, factories.key_of(bob)) as client:
        yield client


def converse(base_url, message, *, timeout_ms=300_000):
    """Submit and poll as the client does; return (success, last agent text, states seen)."""
    with httpx.Client(timeout=PATIENCE) as client:
        params = {"message": message, "timeoutMs": timeout_ms}
        answer = client.post(f"{base_url}/a2a/tasks/send", json={"params": params}, headers=SUBMIT_HEADERS)
        assert answer.is_success, answer.text
        task, states = answer.json(), []
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            task = client.get(f"{base_url}/a2a/tasks/{task['id']}", headers=LOOK_HEADERS).json()
            states.append(task["state"])
            if task["state"] in ("completed", "failed"):
                break
            time.sleep(LOOK_EVERY)
    said = [message["parts"][0]["text"] for message in task["messages"] if message["role"] == "agent"]
    return task["state"] == "completed", said[-1] if said else None, list(dict.fromkeys(states))


def at_work(worker, answer=None):
    """Lease one task beside the conversation and post ``answer`` for it; None leaves it in flight."""

    def work():
        (leased,) = worker.receive().leases
        time.sleep(2 * LOOK_EVERY)
        if answer is not None:
            worker.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id, **answer))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_conversation_ends_in_success_with_the_last_agent_message(base_url, worker):
    thread = at_work(worker, {"status": "ok", "content": "Summary of it"})

    success, text, states = converse(base_url, "Summarize this")

    thread.join(PATIENCE)
    assert (success, text) == (True, "Summary of it")
    assert states[-1] == "completed"
    assert states == sorted(states, key=["submitted", "working", "completed"].index)


def test_a_conversation_ends_in_failure_with_the_reason(base_url, worker):
    thread = at_work(worker, {"status": "error", "error_message": "no paper"})

    success, text, states = converse(base_url, "Print this")

    thread.join(PATIENCE)
    assert (success, text) == (False, "no paper")
    assert states[-1] == "failed"


def test_a_conversation_without_an_answer_ends_in_a_timeout(base_url, worker):
    thread = at_work(worker)

    success, text, states = converse(base_url, "Think for ever", timeout_ms=1000)

    thread.join(PATIENCE)
    assert (success, text) == (False, "Task timed out")
    assert states[-1] == "failed"
