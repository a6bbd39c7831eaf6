"""A caller that is no party to a row cannot tell it from a row that does not exist.

Names of agents and of job cards are no secrets, so this compares ids alone.
"""

import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Caller
from mailbox.life import results
from mailbox.upkeep import compaction
from mailbox.words import tokens
from tests.authorisation import requests, routes, world
from tests.authorisation.test_matrix import undone
from tests.authorisation.world import Principal, World
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

ABSENT = str(UUID(int=2**127 - 1, version=4))
STRANGERS = ("anonymous", "stranger", "wildcard", "registrar", "repairer", "hub")
_MCP = '{{{{"jsonrpc": "2.0", "id": 1, "method": "{}", "params": {{{{{}}}}}}}}}'
# Requests that name an id elsewhere than in the path, beside those of `requests.BODIES`.
FURTHER = (
    ("POST", "/a2a/tasks", '{{"recipient": "bob@local", "intent_text": "more", "parent": "{task}"}}'),
    ("POST", "/a2a/results/next", '{{"ack": "{task}"}}'),
    ("GET", "/a2a/results/next?ack={task}", ""),
    ("GET", "/a2a/tasks/{task}/result?wait_ms=1000", ""),
    ("POST", "/a2a/results", '{{"task_id": "{task}", "status": "ok"}}'),
    ("POST", "/a2a/results", '{{"task_id": "{task}", "status": "ok", "lease_id": "{lease}"}}'),
    ("POST", "/a2a/repair", '{{"task_id": "{task}", "reason": "a test", "command": {force}}}'),
    ("GET", "/a2a/inboxes/{own}/tasks/{task}", ""),
    ("POST", "/a2a/inboxes/{own}/tasks/{task}/accept", ""),
    ("POST", "/a2a/inboxes/{own}/tasks/{task}/complete", "{{}}"),
    ("POST", "/a2a/inboxes/{own}/tasks/{task}/fail", '{{"reason": "a test"}}'),
    ("POST", "/mcp", _MCP.format("resources/read", '"uri": "a2a://tasks/{task}"')),
    ("POST", "/mcp", _MCP.format("resources/read", '"uri": "a2a://tasks/{task}/artifacts/result"')),
    *(
        ("POST", "/mcp", _MCP.format("tools/call", f'"name": "{name}", "arguments": {{{{{arguments}}}}}'))
        for name, arguments in (
            ("wait_for_result", '"task_id": "{task}", "wait_ms": 0'),
            ("cancel_task", '"task_id": "{task}"'),
            ("say", '"task_id": "{task}", "content": "more"'),
            ("send_task", '"recipient": "bob@local", "text": "more", "parent": "{task}"'),
            ("answer_task", '"task_id": "{task}", "lease_id": "{lease}"'),
            ("report_progress", '"task_id": "{task}", "lease_id": "{lease}"'),
            ("ask_sender", '"task_id": "{task}", "lease_id": "{lease}", "question": "?"'),
            ("release_task", '"task_id": "{task}", "lease_id": "{lease}", "reason": "a test"'),
        )
    ),
)
# The hub makes these anew for each answer: ids of tasks, tokens of forms.
MADE = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b\w{64}\b")
LEAST_PAIRS, MOST_SHOWN = 2000, 20
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Foreign:
    """The ids of rows between others, and an absent id in place of each."""

    def __init__(self, hub: World) -> None:
        compacted = hub.resolved().uuid
        results.ack_results(hub.alice, [compacted])
        compaction.compact(Caller.command_line(), factories.AT_ONCE)
        leased = hub.leased.task
        self.tasks = [str(task.uuid) for task in (hub.queued, leased, hub.pending, hub.delivered)] + [str(compacted)]
        public_id = tokens.public_id(hub.key_of_bob) or ""
        ids = [*self.tasks, str(hub.leased.lease_id), str(hub.delivery.delivery_id), str(hub.grant.grant_id)]
        public_ids = (public_id, hub.route_id)
        self.absent = dict.fromkeys(ids, ABSENT) | {each: each[::-1].swapcase() for each in public_ids}

    def replaced(self, path: str, body: str) -> tuple[tuple[str, str], tuple[str, ...]]:
        """Return the request with absent ids for the foreign ids, and all ids that either names."""
        found = {old: new for old, new in self.absent.items() if old in path + body}
        for old, new in found.items():
            path, body = path.replace(old, new), body.replace(old, new)
        return (path, body), (*found, *found.values())


def sent(hub: World, foreign: Foreign, own: str) -> Iterator[tuple[str, str, str]]:
    """Yield every request with a foreign id: its method, path and body."""
    for route, section in routes.served().items():
        path = requests.path_of(route, hub)
        for method in METHODS:
            body = requests.body_of(method, route, hub)[0]
            if section in ("api", "pages") and any(text in path + body for text in foreign.absent):
                yield from ((method, *each) for each in _in_each_state(path, body, hub, foreign))
    force = '{"action": "force_error", "message": "given up"}'
    for method, path, body in FURTHER:
        for task in foreign.tasks:
            names = {"task": task, "lease": hub.leased.lease_id, "own": own, "force": force}
            yield method, path.format(**names), body.format(**names)


def _in_each_state(path: str, body: str, hub: World, foreign: Foreign) -> Iterator[tuple[str, str]]:
    named = [task for task in foreign.tasks if task in path + body]
    if not named:
        yield path, body
    for old in named:
        yield from ((path.replace(old, task), body.replace(old, task)) for task in foreign.tasks)


def seen(client: Client, cookies: str, request: tuple[str, str, str], ids: tuple[str, ...]) -> tuple[object, ...]:
    """Return all that the caller sees of the answer, without the ids of its own request."""
    method, path, body = request
    kind = "application/x-www-form-urlencoded" if "/ops/" in path else "application/json"
    client.cookies = SimpleCookie(cookies)
    with undone():
        response: Any = client.generic(method, path, body, kind)
        content: bytes = response.getvalue() if response.streaming else response.content
    headers = [f"{name}: {value}" for name, value in response.items() if name not in ("X-Request-Id", "Date")]
    text = "\n".join([*sorted(headers), *sorted(response.cookies), "", content.decode()])
    for each in ids:
        text = text.replace(each, "<id>")
    return response.status_code, MADE.sub("<made>", text)


def strangers(hub: World) -> Iterator[Principal]:
    """Yield the callers that are no party to any row, and hold no role that sees all rows."""
    yield from (caller for caller in list(world.callers_of_the_api(hub)) if caller.name in STRANGERS)
    yield Principal("person without a role", "groupless", user=User.objects.get(username="groupless"))
    own_route = factories.route(factories.agent("neighbour", "a2a.send.*"), rate_limit=1_000_000)
    yield Principal("token of another agent's route", "live", prefix=own_route)


@pytest.mark.deep
@time_machine.travel("2035-01-01T00:00:00Z", tick=False)
def test_absent_and_foreign_ids_get_the_same_answer_byte_for_byte() -> None:
    hub = World()
    foreign = Foreign(hub)
    differing, pairs = [], 0
    for caller in list(strangers(hub)):
        client = caller.client()
        cookies = client.cookies.output(header="", sep=";")
        for method, path, body in sent(hub, foreign, own=f"{caller.name}@local"):
            request = (method, caller.prefix + path, body)
            (absent_path, absent_body), ids = foreign.replaced(request[1], body)
            of_foreign = seen(client, cookies, request, ids)
            of_absent = seen(client, cookies, (method, absent_path, absent_body), ids)
            pairs += 1
            if of_foreign != of_absent:
                differing.append(f"{caller.name}: {method} {path} {body}\n{of_foreign}\n{of_absent}")

    assert not differing, f"{len(differing)} of {pairs} pairs:\n" + "\n".join(differing[:MOST_SHOWN])
    assert pairs >= LEAST_PAIRS
