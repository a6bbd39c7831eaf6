"""A valid request for each route and method: the ids in its path, its query and its body."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.apps import apps
from django.conf import settings

from mailbox.words import tokens
from mailbox.words.ed25519 import KeyProof
from tests.authorisation.world import PASSWORD, World

Body = Callable[[World], dict[str, Any]]
_PARAMETER = re.compile(r"<(\w+)>")


def _result(world: World) -> dict[str, Any]:
    return {"task_id": str(world.leased.task.uuid), "status": "ok", "lease_id": str(world.leased.lease_id)}


def _task(world: World) -> dict[str, Any]:
    return {"recipient": "bob@local", "intent_text": "more"}


def _proof(world: World) -> dict[str, Any]:
    made = KeyProof.made(Ed25519PrivateKey.generate(), hub=settings.PUBLIC_URL, display="bob@local")
    return made.fields()


def _message(world: World) -> dict[str, Any]:
    return {
        "id": "1",
        "type": "a2a:delegate",
        "fromPeerId": "self",
        "toPeerId": "hub",
        "timestamp": 1,
        "payload": {"task": "more", "agent": "bob@local"},
    }


def _submitted(world: World) -> dict[str, Any]:
    return {"title": "more", "description": "more"}


def _reason(world: World) -> dict[str, Any]:
    return {"reason": "a test"}


def _empty(world: World) -> dict[str, Any]:
    return {}


def _form(**fields: Any) -> Body:
    return lambda world: {"reason": "a test", "form_token": str(uuid4()), **fields}


def _repair(**fields: Any) -> Body:
    def body(world: World) -> dict[str, Any]:
        lease = world.leased
        shown = {"lease_id": lease.lease_id, "task_id": lease.task.uuid, "attempt": lease.attempt}
        return {"reason": "a test", "form_token": str(uuid4()), **shown, **fields}

    return body


OFFICIAL = ("/agents/<agent>/", "/tenants/rest/<agent>/")  # the beginnings of the official protocol's routes
OFFICIAL_SEND = {
    "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "more"}]},
    "configuration": {"returnImmediately": True},
}


def _rpc(world: World) -> dict[str, Any]:
    params = {"id": str(world.official.uuid), "tenant": "bob@local"}
    return {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": params}


def _mcp(world: World) -> dict[str, Any]:
    call = {"name": "read_task", "arguments": {"task_id": str(world.queued.uuid)}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}


def _official() -> dict[tuple[str, str], Body]:
    rest = [f"{start}rest/" if start.startswith("/agents") else start for start in OFFICIAL]
    sends = {
        ("POST", f"{start}message:{kind}"): lambda _: OFFICIAL_SEND for start in rest for kind in ("send", "stream")
    }
    receivers = {
        ("POST", f"{start}tasks/<task_id>/pushNotificationConfigs"): lambda _: {"url": "https://receiver.example/more"}
        for start in rest
    }
    calls = {("POST", path): _rpc for path in ("/agents/<agent>/a2a", "/agents/<agent>/a2a/", "/tenants/a2a")}
    return {**sends, **receivers, **calls}


# The JSON of each request of the API that has a body.
BODIES: dict[tuple[str, str], Body] = {
    ("POST", "/a2a/tasks"): _task,
    ("POST", "/a2a/tasks/batch"): lambda world: {"tasks": [_task(world)]},
    ("POST", "/a2a/tasks/lease"): lambda _: {"max": 2},
    ("POST", "/a2a/tasks/<task_id>/lease"): _empty,
    ("POST", "/a2a/tasks/<task_id>/messages"): lambda _: {"content": "more"},
    ("POST", "/a2a/tasks/<task_id>/release"): _reason,
    ("POST", "/a2a/tasks/<task_id>/updates"): lambda _: {"updates": [{"message": "half"}]},
    ("POST", "/a2a/tasks/<task_id>/cancel"): _reason,
    ("POST", "/a2a/results"): _result,
    ("POST", "/a2a/results/batch"): lambda world: {"results": [_result(world)]},
    ("POST", "/a2a/results/drain"): lambda _: {"max": 2},
    ("POST", "/a2a/results/ack"): lambda world: {"task_ids": [str(world.pending.uuid)]},
    ("POST", "/a2a/repair"): lambda world: {
        "task_id": str(world.leased.task.uuid),
        "reason": "a test",
        "command": {"action": "requeue", "duplicate_risk": "operator_accepted"},
    },
    ("POST", "/a2a/replay-entries/drop"): lambda world: {"id": world.entry.pk, "reason": "a test"},
    ("POST", "/a2a/deliveries/<delivery_id>/resend"): _reason,
    ("POST", "/a2a/agents"): lambda _: {"display": "carol@local"},
    ("POST", "/a2a/agents/<name>/pause"): _reason,
    ("POST", "/a2a/agents/<name>/resume"): _reason,
    ("POST", "/a2a/agents/<name>/quotas"): lambda _: {"queued": 5},
    ("POST", "/a2a/agents/<name>/pubkey"): _proof,
    ("POST", "/a2a/keys"): lambda _: {"agent": "bob@local"},
    ("POST", "/a2a/keys/revoke"): lambda world: {"public_id": tokens.public_id(world.key_of_bob)},
    ("POST", "/a2a/keys/rotate"): lambda _: {},
    ("POST", "/a2a/routes"): lambda _: {"agent": "bob@local"},
    ("POST", "/a2a/routes/revoke"): lambda world: {"public_id": world.route_id},
    ("POST", "/capabilities/grant"): lambda _: {"subject": "bob@local", "action": "a2a.send.*"},
    ("POST", "/capabilities/revoke"): lambda world: {"grant_id": str(world.grant.grant_id)},
    ("POST", "/a2a/tasks/send"): lambda _: {"message": "more"},
    ("POST", "/api/agents"): lambda _: {"name": "carol"},
    ("PUT", "/api/agents/<name>"): lambda _: {"description": "other"},
    ("PATCH", "/api/agents/<name>"): lambda _: {"description": "other"},
    ("POST", "/api/agents/<name>/invoke"): lambda _: {"content": "more"},
    ("POST", "/a2a/inboxes/<agent>/tasks"): lambda _: {"description": "more"},
    ("POST", "/a2a/inboxes/<agent>/tasks/<task_id>/fail"): _reason,
    ("POST", "/a2a/inboxes/<agent>/import"): lambda _: {"job_id": "job-1", "agent_name": "bob"},
    ("POST", "/a2a/inboxes/<agent>/delegate"): lambda _: {"text": "@delegate bob: more"},
    ("PUT", "/a2a/registry/<job_id>"): lambda _: {"name": "books", "description": "other"},
    ("POST", "/api/v1/a2a/receive"): _message,
    ("POST", "/api/v1/a2a/peers/local"): lambda _: {"url": "https://node.example", "name": "node"},
    ("POST", "/api/v1/a2a/tasks"): lambda _: {"task": "more"},
    ("POST", "/api/tasks"): _submitted,
    ("POST", "/api/v1/tasks"): _submitted,
    ("POST", "/mcp"): _mcp,
    **_official(),
}
# The fields of each form of the pages.
FORMS: dict[str, Body] = {
    "/ops/leases/<lease_id>/requeue/": _repair(posture="operator_accepted"),
    "/ops/leases/<lease_id>/force-error/": _repair(message="given up"),
    "/ops/tasks/<task_id>/read/": _form(),
    "/ops/failures/<fingerprint>/": _form(),
    "/ops/send/": _form(recipient="bob", intent_text="more"),
    "/ops/agents/<name>/": _form(act="pause"),
    "/ops/agents/<name>/open/": _form(),
    "/ops/agents/<name>/close/": _form(),
    "/ops/scheduler/run-once/": _form(),
    "/ops/deliveries/<delivery_id>/": _form(seen="disabled 0"),
    "/ops/deliveries/resend/": lambda world: _form(delivery=str(world.delivery.delivery_id))(world),
    "/ops/idempotency/<number>/": lambda world: _form(seen=world.entry.source_task_id)(world),
    "/ops/repairs/": lambda world: {
        "verb": "requeue",
        "form_token": str(uuid4()),
        "lease": str(world.leased.lease_id),
    },
    "/ops/repairs/<number>/": _form(with_unsafe="include", typed="1"),
    "/ops/views/": lambda _: {"page": "tasks", "query": "q=state:error", "name": "mine"},
    "/ops/views/<number>/": lambda _: {"act": "unshare"},  # of the view of another person
    "/ops/settings/": lambda _: {"theme": "dark"},
    "/ops/settings/password/": lambda _: {"act": "elsewhere", "old_password": PASSWORD},
    "/ops/settings/second-factor/": lambda _: {"act": "start"},
    "/ops/sign-in/": lambda _: {"username": "viewer", "password": PASSWORD},
    "/admin/login/": lambda _: {"username": "viewer", "password": PASSWORD},
}
QUERIES = {
    "/ops/go/": "?q=bob",
    "/admin/autocomplete/": "?app_label=mailbox&model_name=capabilitygrant&field_name=subject&term=b",
}
NUMBERS = {
    "/ops/idempotency/": lambda world: world.entry.pk,
    "/ops/scheduler/": lambda world: world.scan.pk,
    "/ops/audit/": lambda world: world.event.pk,
    "/ops/repairs/": lambda world: world.plan.pk,
    "/ops/views/": lambda world: world.view.pk,
}
# The routes that take another task than the queued one.
TASKS = {
    "/a2a/tasks/<task_id>/result": lambda world: world.pending,
    "/a2a/tasks/<task_id>/release": lambda world: world.leased.task,
    "/a2a/tasks/<task_id>/heartbeat": lambda world: world.leased.task,
    "/a2a/tasks/<task_id>/updates": lambda world: world.leased.task,
    "/ops/tasks/<task_id>/media/<part>": lambda world: world.leased.task,
    "/ops/tasks/<task_id>/read/": lambda world: world.by_hand,
}


def path_of(route: str, world: World) -> str:
    """Return the path of the route, with ids of the world's rows, and with the query that the route needs."""
    is_official = route.startswith((*OFFICIAL, "/tenants/"))
    values: dict[str, object] = {
        "task_id": world.official.uuid if is_official else TASKS.get(route, lambda world: world.queued)(world).uuid,
        "config_id": "receiver",
        "root": world.queued.uuid,
        "lease_id": world.leased.lease_id,
        "delivery_id": world.delivery.delivery_id,
        "name": "open@local" if route.endswith("/close/") else "bob@local",
        "agent": "bob@local",
        "job_id": "job-1",
        "number": next((of(world) for start, of in NUMBERS.items() if route.startswith(start)), 1),
        "form": "csv",
        "part": f"artifact-{world.artifact}-1" if "/media/" in route else "intent",
        "fingerprint": world.failure.fingerprint,
        "file": "ops/ops.css",
        "path": "start/install/",
        "row_id": 1,
        "url": "nowhere",
        "app_label": "mailbox",
        "content_type_id": 1,
    }
    if "<object_id>" in route or "<id>" in route:
        values["object_id"] = values["id"] = _row_of(route)
    query = "?A2A-Version=1.0" if is_official else QUERIES.get(route, "")
    return _PARAMETER.sub(lambda name: quote(str(values[name[1]])), route) + query


def _row_of(route: str) -> object:
    """Return the key of a row of the model that a route of Django's admin names."""
    _, site, label, model, *rest = (*route.split("/"), "", "")
    if site != "admin" or model.startswith("<") or not rest[0]:
        return 1
    row = apps.get_model(label, model)._default_manager.order_by("pk").first()
    return 1 if row is None else row.pk


def body_of(method: str, route: str, world: World) -> tuple[str, str]:
    """Return the body of a request and its media type."""
    if (method, route) in BODIES:
        return json.dumps(BODIES[method, route](world)), "application/json"
    if method == "POST" and route in FORMS:
        fields = {name: str(value) for name, value in FORMS[route](world).items()}
        return "&".join(f"{name}={quote(value)}" for name, value in fields.items()), "application/x-www-form-urlencoded"
    return "", "application/x-www-form-urlencoded" if route.startswith(("/ops/", "/admin/")) else "application/json"
