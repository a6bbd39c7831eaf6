"""Valid documents, from which the mutations start."""

from collections.abc import Mapping, Sequence
from typing import Any

ID, OTHER_ID = "6f1c0c54-5e0c-4f5b-9d5f-0a6f5a3a8f11", "0d3a2d2e-3b60-4a52-8d7d-6a4a6b6a0002"
PUBKEY = "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"  # 32 bytes in base58
BLOCKS: Sequence[Any] = (
    {"type": "text", "text": "done"},
    {"type": "json", "value": {"pages": [1, 2.5, None]}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "é"}},
    {"type": "resource_link", "uri": "https://example.org", "name": "a"},
)
TASK = {
    "id": ID,
    "sender": {"display": "alice@local", "pubkey": PUBKEY},
    "recipient": "bob@local",
    "intent_text": "summarise the report",
    "task_kind": "summary",
    "parent": OTHER_ID,
    "deadline_ms": 1_900_000_000_000,
    "idempotency": {"duplicate_safety": "idempotent", "key": "inv-1"},
    "callback_url": "https://example.org/done",
    "callback_secret": "whsec_c2VjcmV0",
}
RESULT = {"task_id": ID, "status": "partial", "content": list(BLOCKS), "error_message": "half", "lease_id": OTHER_ID}
UPDATES = {
    "updates": [
        {"progress": {"fraction": 0.5, "note": "half"}},
        {"message": list(BLOCKS), "message_id": "m", "metadata": {"a": 1}},
        {"artifact": {"artifact_id": "page", "name": "Page", "content": "x"}, "append": True, "last_chunk": True},
        {"status": "input_required", "message": "which?"},
    ],
    "attempt_id": ID,
}
SAY = {"content": list(BLOCKS), "message_id": "m", "metadata": {"a": 1}, "extensions": ["x"], "attempt_id": ID}
REPAIRS = (
    {
        "task_id": ID,
        "command": {"action": "requeue", "duplicate_risk": "idempotent", "lease_id": ID},
        "reason": "stuck",
    },
    {"task_id": ID, "command": {"action": "force_error", "message": "no"}, "reason": "stuck"},
)
GRANT = {"subject": "bob", "action": "a2a.send.*", "scope": {"task_id": ID}, "expires_at": 1_900_000_000_000}
INBOX_TASK = {
    "task_id": ID,
    "source_job_id": "job",
    "source_agent": "alice",
    "target_agent": "bob",
    "description": "do it",
    "context": {"a": 1},
    "status": "completed",
    "artifacts": {"out": "x"},
    "failure_reason": None,
}
# The bodies of the hub's own routes, by the name of their shape.
BODIES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "TaskBody": [TASK, {"recipient": {"display": "bob@local", "pubkey": PUBKEY}, "intent_text": "x"}],
    "ResultBody": [
        RESULT,
        {"task_id": ID, "status": "ok", "message": "done"},
        {"task_id": ID, "status": "ok", "direct": True, "content": list(BLOCKS)},
    ],
    "NextResult": [{"wait_ms": 100, "attempt_id": ID, "ack": OTHER_ID}],
    "SayBody": [SAY, {"content": "green", "reference_task_ids": [OTHER_ID]}],
    "AckBody": [{"task_ids": [ID, OTHER_ID]}],
    "ReleaseBody": [{"reason": "later", "lease_id": ID}],
    "UpdatesBody": [UPDATES],
    "CancelBody": [{"reason": "no need"}],
    "RepairBody": REPAIRS,
    "PolicyBody": [{"enabled": True, "min_lease_age_ms": 1000, "max_attempts": 3, "max_requeues": 1, "scan_limit": 9}],
    "DropReplayBody": [{"id": 1, "reason": "wrong", "source_task_id": ID}],
    "QueueQuery": [{"limit": "10", "cursor": "x", "state_filter": "queued", "min_lease_age_ms": "5"}],
    "GrantBody": [{**GRANT, "max_uses": 3}],
    "KeyBody": [{"agent": "bob@local", "expires_at": 1_900_000_000_000}, {"username": "olga"}],
    "AgentBody": [{"display": "bob@local", "pubkey": PUBKEY}],
    "AuditQuery": [{"limit": "20", "since_ms": "1700000000000"}],
    "SubmitBody": [{"task_id": ID, "description": "do it", "source_job_id": "job", "context": {"a": 1}}],
    "CompleteBody": [{"artifacts": {"out": {"a": [1]}}}],
    "DelegateBody": [{"text": "@delegate bob: do it", "delegation_id": ID}],
    "ImportBody": [{"job_id": "job", "agent_name": "bob", "tasks": {ID: INBOX_TASK}}],
    "ExportQuery": [{"job_id": "job"}],
    "CardBody": [{"name": "bob", "description": "works", "skills": [{"id": "a", "description": "b"}]}],
    "RegistryQuery": [{"skill": "a", "limit": "3"}],
    "RegisterAgentBody": [
        {"name": "Bob the Agent", "publicKey": PUBKEY, "skillBundles": ["a"], "remoteUrl": "https://example.org"},
        {"name": "Zoë", "display": "zoe@local", "mcpToolPermissions": None},
    ],
    "InvokeAgentBody": [{"content": "do it", "toAgentId": "bob@local"}],
}
TASKS_SEND: Sequence[Any] = (
    {"params": {"message": "do it", "skill": "summary", "timeoutMs": 1000, "depth": 2}, "sourceAgent": "alice"},
    {"message": "do it", "skill": "summary", "timeoutMs": 600_000, "depth": 1},
    {"params": {"message": "x"}, "depth": 3},
)
_DELEGATE = {
    "task": "do it",
    "description": "d",
    "title": "t",
    "callback_url": "https://example.org",
    "callback_secret": "s",
    "more": [1],
}
_PAYLOADS: Mapping[str, Sequence[Any]] = {
    "a2a:delegate": [_DELEGATE, {}],
    "a2a:delegate_batch": [{"tasks": [_DELEGATE, {"title": "t"}]}],
    "a2a:result": [
        {"task_id": ID, "status": "completed", "result": {"status": "ok", "a": 1}, "error": {"why": "x"}},
        {"task_id": ID, "result": "text", "error": None},
        {"task_id": ID, "status": "", "result": {"status": "pending"}},
    ],
    "a2a:status_query_batch": [{"task_ids": [ID, "x"]}],
    "a2a:announce": [{"name": "n", "url": "http://x", "capabilities": ["a"]}],
}
MESSAGES: Sequence[Any] = [
    {"id": "m1", "type": kind, "fromPeerId": "a", "toPeerId": "b", "payload": payload, "timestamp": 1_700_000_000_000}
    for kind, payloads in _PAYLOADS.items()
    for payload in payloads
]
SUBMITTED: Sequence[Any] = (
    {"title": "t", "description": "d", "standards": ["a"], "callback_url": "https://example.org", "extra": {"a": 1}},
    {"task": "do it", "context": {"a": [1]}},
    {"url": "https://node.example", "name": "n", "capabilities": {"a": True}, "mode": "m"},
)
# Answers of a remote agent: to a submission, and to a poll.
REMOTE: Sequence[Any] = (
    {"id": "remote-1", "state": "submitted"},
    {
        "id": "remote-1",
        "state": "completed",
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "do it"}]},
            {"role": "agent", "parts": [{"type": "text", "text": "done"}, {"type": "data", "data": {}}]},
            {"role": "agent", "parts": []},
        ],
    },
    {"state": "failed", "messages": [{"role": "agent", "parts": [{"text": "why"}]}]},
)
DOCUMENTS: Sequence[Any] = (TASK, RESULT, UPDATES, *REPAIRS, GRANT, *TASKS_SEND, *MESSAGES, *SUBMITTED, *REMOTE)
URLS: Sequence[str] = (
    *("https://user:pass@example.org/a/b/", "https://:key@example.org:8443", "http://93.184.216.34/x"),
    *("http://[2606:2800:220:1::1]:80/", "https://xn--bcher-kva.example", "http://0x7f.1/", "http://localhost:1"),
)
