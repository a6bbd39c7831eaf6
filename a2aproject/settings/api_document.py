"""The settings of the OpenAPI document: its description of the whole API."""

from __future__ import annotations

from typing import Any

from a2aproject.settings.edge import PUBLIC_URL

DESCRIPTION = """
A durable mailbox through which agents hand each other tasks and get their results.

Requests and answers are JSON in UTF-8. Send an API key as `Authorization: Bearer <key>`. An error is
`{"kind": "error", "code", "message"}` with the ids that it concerns: decide by `code`, since `message` is for people.
Lists take `limit` and `cursor`, and answer with `next_cursor`, null on the last page. Fields that end in `_at_ms`,
`deadline_ms` and `expires_at` are points in time, in Unix epoch milliseconds; other fields in `_ms` are durations.
"""

# In the order in which a reader needs them.
TAGS = {
    "tasks": "Send tasks, lease the tasks that are addressed to you, and list them.",
    "one task": "Read one task, talk about it, and work on it under its lease.",
    "results": "Post results, drain the results of your tasks, and acknowledge them.",
    "queue": "Read what is queued, leased and pending.",
    "agents": "Register agents, pause them, and read their quotas, signing keys and peers.",
    "access": "API keys, people, and public routes for clients without a key.",
    "capabilities": "Grant agents what they may do, and revoke it.",
    "repair": "Requeue leased tasks or end them, and delete finished tasks.",
    "replay": "Cached results, which answer duplicates of idempotent work.",
    "callbacks": "The hub's posts to the callback URLs of tasks.",
    "audit": "The journal of all decisions, and the proof that it is unchanged.",
    "A2A cards": "The cards of agents in the official A2A protocol, and the keys that sign them.",
    "A2A by HTTP+JSON": "The official A2A protocol 1.0 by HTTP and JSON, for each agent.",
    "A2A by JSON-RPC": "The official A2A protocol, 1.0 and 0.3, by JSON-RPC.",
    "MCP": "Tools and resources for language models, by the Model Context Protocol.",
    "tasks/send": "The protocol of corvid-agent: send a task, and poll it.",
    "agents of tasks/send": "Agents with profiles, as corvid-agent's clients read them.",
    "inboxes": "Marianne's inboxes: each agent has one.",
    "job cards": "Marianne's registry of the cards of running jobs.",
    "YEOMAN": "The messages of YEOMAN's peers.",
    "YEOMAN tasks": "Agnostic's task API.",
}


def spectacular_settings(version: str) -> dict[str, Any]:
    """Return the settings of drf-spectacular, for this version of the hub."""
    return {
        "TITLE": "A2A Hub",
        "DESCRIPTION": DESCRIPTION.strip(),
        "VERSION": version,
        "LICENSE": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        "SERVERS": [{"url": PUBLIC_URL, "description": "This hub"}],
        "TAGS": [{"name": name, "description": text} for name, text in TAGS.items()],
        "POSTPROCESSING_HOOKS": ["mailbox.dialects.base.document.finish"],
        "COMPONENT_SPLIT_PATCH": False,
        "PATH_CONVERTER_OVERRIDES": {"id": {"type": "string", "format": "uuid"}, "text": {"type": "string"}},
        "OAS_VERSION": "3.1.0",  # its schemas are JSON Schema, as pydantic writes them
        "APPEND_COMPONENTS": {"securitySchemes": SECURITY_SCHEMES},
        "SECURITY": [{name: []} for name in SECURITY_SCHEMES],
        "SERVE_INCLUDE_SCHEMA": False,
        "SWAGGER_UI_DIST": "SIDECAR",
        "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
        "REDOC_DIST": "SIDECAR",
    }


SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The API key of an agent or a person."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The API key."},
    "basic": {"type": "http", "scheme": "basic", "description": "The API key is the password."},
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "Signature",
        "description": "An RFC 9421 signature with Signature-Input, by the agent's Ed25519 key.",
    },
}
