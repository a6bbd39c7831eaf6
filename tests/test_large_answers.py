"""No answer grows with the payloads that an agent stores: lists are cut at a budget of bytes and go on by a cursor."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from agentcards.models import AgentCard
from mailbox.access.callers import Caller, Role
from mailbox.database import paging
from mailbox.models import (
    Agent,
    Artifact,
    AuditEvent,
    Lease,
    Message,
    Peer,
    PushDelivery,
    ReplayEntry,
    Result,
    Task,
)
from mailbox.words import json_text
from tests.support import factories, yeoman
from tests.support.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

NOW = datetime(2035, 1, 1, tzinfo=UTC)
MANY, SIZE = 20, 1_000_000
SLACK = 64 * 1024  # ids, names and times beside the texts
LARGE = "x" * SIZE
ROOT = UUID(int=7)


@pytest.fixture(scope="module")
def stored(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[list[Task]]:
    """Store 60 tasks of 1 MB that an agent sent itself, and as many other rows that it can fill."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield fill(factories.row_of(factories.agent("alice", "a2a.send.*")))
        transaction.set_rollback(True)


@pytest.fixture
def alice(stored: list[Task]) -> Caller:
    return factories.caller_of(stored[0].sender)


def fill(agent: Agent) -> list[Task]:
    kinds = (Task.State.QUEUED, Task.State.IN_FLIGHT, Task.State.RESOLVED)
    states = [state for state in kinds for _ in range(MANY)]
    tasks = Task.objects.bulk_create(
        [
            Task(
                uuid=uuid4(),
                sender=agent,
                recipient=agent,
                intent_text=f"{number} {LARGE}",
                parent=ROOT,
                dialect="yeoman",
                state=state,
                outcome="ok" if state == Task.State.RESOLVED else None,
                attempt=0 if state == Task.State.QUEUED else 1,
                sent_at=NOW,
                queued_at=NOW,
                resolved_at=NOW if state == Task.State.RESOLVED else None,
            )
            for number, state in enumerate(states)
        ],
        batch_size=10,
    )
    queued, leased, resolved = (tasks[start : start + MANY] for start in range(0, 3 * MANY, MANY))
    Lease.objects.bulk_create(
        Lease(task=task, holder=agent, attempt=1, leased_at=NOW, last_seen_at=NOW) for task in leased
    )
    content = json_text.dumps([{"type": "text", "text": LARGE}])
    for number, task in enumerate(resolved):
        Result.objects.create(
            task=task,
            sender=agent,
            recipient=agent,
            status="ok",
            content=content,
            posted_at=NOW,
            delivery="delivered" if number % 2 else "pending",
            delivered_at=NOW if number % 2 else None,
        )
    for number in range(MANY):
        AuditEvent.objects.create(
            kind="a2a_task_updated",
            actor=agent.display,
            actor_pubkey=agent.pubkey,
            task_id=queued[0].uuid,
            seq=number + 1,
            data=json_text.dumps({"message": LARGE}),
            at=NOW,
            source="api",
        )
        beside = {"task": queued[0], "seq": number + 2, "content": content, "said_at": NOW}
        Message.objects.create(message_id=f"{number}", **beside)
        Artifact.objects.create(artifact_id=f"{number}", append=False, last_chunk=True, **beside)
        ReplayEntry.objects.create(
            cache_key=f"{number}",
            sender_pubkey=agent.pubkey,
            recipient_pubkey=agent.pubkey,
            task_kind=LARGE,
            key=f"{number}",
            source_task_id=uuid4(),
            status="ok",
            content=content,
            stored_at=NOW,
        )
        PushDelivery.objects.create(
            task_uuid=uuid4(), sender=agent, url="https://a.example", body=LARGE, created_at=NOW, next_attempt_at=NOW
        )
        Peer.objects.create(
            agent=agent, peer_id=f"{number}", capabilities=json_text.dumps([LARGE]), first_seen_at=NOW, last_seen_at=NOW
        )
        AgentCard.objects.create(
            job_id=f"{number}", name=f"{number}", description=LARGE, registered_at=NOW, registered_by=agent
        )
    return tasks


# Each list of the API: its address, the key of its items, how many items it has, and how many pages' bytes it may take.
LISTS: dict[str, tuple[str, str, int, int]] = {
    "queued tasks": ("/a2a/tasks/recent", "tasks", MANY, 1),
    "pending results": ("/a2a/results/recent", "results", MANY // 2, 1),
    "delivered results": ("/a2a/results/delivered", "results", MANY // 2, 1),
    "queue": ("/a2a/queue", "tasks", 2 * MANY, 2),  # and the pending results
    "leases": ("/a2a/leases", "leases", MANY, 1),
    "tree": (f"/a2a/tasks/{ROOT}/tree", "nodes", 3 * MANY, 1),
    "timeline": ("/a2a/tasks/{queued}/timeline", "events", MANY, 1),
    "artifacts": ("/a2a/tasks/{queued}/artifacts", "artifacts", MANY, 1),
    "messages": ("/a2a/tasks/{queued}/messages", "messages", MANY + 1, 1),  # and the task's own text
    "journal": ("/audit/recent", "events", MANY, 1),
    "cached results": ("/a2a/replay-entries", "entries", MANY, 1),
    "callbacks": ("/a2a/deliveries", "deliveries", MANY, 1),
    "peers": ("/a2a/peers", "peers", MANY, 1),
    "inbox": ("/a2a/inboxes/alice/tasks", "tasks", 3 * MANY, 1),
    "export of an inbox": ("/a2a/inboxes/alice/export", "tasks", 3 * MANY, 1),
    "cards": ("/a2a/registry", "cards", MANY, 1),
}
WITHOUT_LIMIT = {"tree", "export of an inbox"}
NEXT = {"messages": "next_after"}  # by number and not by cursor


@pytest.mark.parametrize("name", LISTS)
def test_each_page_of_a_list_is_within_the_budget_and_the_pages_have_every_item(stored, alice, name):
    path, key, total, budgets = LISTS[name]
    client = Api(alice)
    query: dict[str, Any] = {} if name in WITHOUT_LIMIT else {"limit": 1000}
    path = path.format(queued=stored[0].uuid)

    shown: list[Any] = []
    cursor: dict[str, Any] | None = {}
    while cursor is not None and len(shown) <= total:
        answer = client.get(path, **query, **cursor)
        assert len(answer.content) < budgets * paging.BUDGET + SLACK
        shown += answer.json()[key]
        following = answer.json().get(NEXT.get(name, "next_cursor"))
        cursor = {NEXT[name].removeprefix("next_") if name in NEXT else "cursor": following} if following else None

    texts = [item if isinstance(item, str) else json.dumps(item, sort_keys=True) for item in shown]
    assert (len(texts), len(set(texts))) == (total, total)


def test_the_slices_of_sent_tasks_are_within_the_budget_and_have_every_task(stored, alice):
    client = Api(alice)
    shown: list[str] = []
    while len(shown) < 3 * MANY:
        answer = client.get("/api/v1/tasks", limit=100, offset=len(shown))
        slice_ = answer.json()
        assert len(answer.content) < paging.BUDGET + SLACK
        shown += [item["task_id"] for item in slice_["items"]]
        is_last = len(shown) == 3 * MANY
        assert (slice_["limit"], slice_["total"]) == (100 if is_last else len(slice_["items"]), 3 * MANY)

    assert len(set(shown)) == 3 * MANY


def test_the_status_is_within_the_budget_and_links_to_its_next_page(stored, alice):
    client, seen, path = Api(alice), [], "/a2a/status?limit=1000&state_filter=queued"
    while path:
        answer = client.get(path)
        assert len(answer.content) < 2 * paging.BUDGET + SLACK
        seen += [entry["task"]["id"] for entry in answer.json()["tasks"]]
        link = answer.headers.get("Link", "")
        path = link[link.find("/a2a/") : link.find(">")] if link else ""

    assert len(set(seen)) == len(seen) == MANY


def test_the_command_line_prints_a_status_within_the_budget_and_a_note_about_the_rest(stored, capsys):
    printed = io.StringIO()

    call_command("a2a", "status", "--limit", "1000", "--json", stdout=printed)

    assert len(printed.getvalue()) < 2 * paging.BUDGET + SLACK
    assert len(json.loads(printed.getvalue())["tasks"]) == 4
    assert capsys.readouterr().err == "status: left out what is beyond 4,194,304 bytes\n"


def test_a_batch_of_status_queries_is_within_the_budget_and_says_what_it_leaves_out(stored, alice):
    ids = [str(task.uuid) for task in stored]

    answer = yeoman.Peer(alice).receive(yeoman.envelope("a2a:status_query_batch", {"task_ids": ids[-MANY:]}))

    assert len(answer.content) < paging.BUDGET + SLACK
    assert 1 <= len(answer.json()["statuses"]) < MANY
    assert answer.json()["warning"]


def test_the_context_of_an_inbox_is_cut_and_says_how_many_tasks_there_are(stored, alice):
    answer = Api(alice).get("/a2a/inboxes/alice/context")

    assert len(answer.content) < paging.BUDGET // 4 + SLACK
    assert "You have 20 task(s) from other agents: The first 1 are:" in answer.content.decode()


def test_the_announced_skills_of_jobs_are_within_the_budget(stored, alice, settings):
    settings.A2A_CAPABILITIES_DYNAMIC = True
    skills = [{"id": "skill", "description": LARGE}]
    AgentCard.objects.update(description="", skills=skills)

    for path in ("/api/v1/a2a/capabilities", "/.well-known/a2a-agent"):
        assert len(Api(alice).get(path).content) < paging.BUDGET + SLACK


PAGES = [
    *("", "leases/", "tasks/", "results/", "results/?state=all", "agents/", "agents/alice@local/", "deliveries/"),
    *("idempotency/", "repairs/", "repairs/plans/", "audit/", "scheduler/", "scheduler/dry-run/", "health/"),
    *("tasks/{queued}/", f"trees/{ROOT}/", "go/?q={queued}"),
]
EXPORTS = [
    *(f"{name}.{form}" for name in ("leases", "tasks", "results", "audit", "idempotency") for form in ("csv", "jsonl")),
    *(f"trees/{ROOT}/json", "tasks/{queued}/json"),
]


@pytest.fixture
def ana() -> Client:
    factories.person("ana", Role.OPERATOR)
    client = Client()
    client.force_login(User.objects.get(username="ana"), backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("path", PAGES)
def test_each_page_of_the_dashboard_is_within_the_budget_and_reads_little_at_once(stored, ana, path):
    ana.get("/ops/agents/bob@local/")  # the first page of a process also reads modules and templates
    tracemalloc.start()
    try:
        answer = ana.get(f"/ops/{path.format(queued=stored[0].uuid)}", follow=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert answer.status_code == 200
    assert len(answer.content) < paging.BUDGET
    assert peak < 60 * SIZE


@pytest.mark.parametrize("path", EXPORTS)
def test_an_export_of_any_size_reads_little_at_once(stored, ana, path):
    tracemalloc.start()
    try:
        answer = ana.get(f"/ops/{path.format(queued=stored[0].uuid)}")
        size = sum(len(part) for part in answer.streaming_content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size > 1000
    assert peak < 60 * SIZE


def test_a_list_of_large_tasks_reads_little_at_once(stored, alice):
    tracemalloc.start()
    try:
        answer = Api(alice).get("/a2a/tasks/recent", limit=1000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(answer.json()["tasks"]) == 4
    assert peak < 60 * SIZE
