"""Sends mutated calls of every method and tool to the door for MCP, and judges each answer."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import jsonschema_rs

from mailbox.dialects.mcp.messages import CLIENT_KEY, VERSION_KEY, VERSIONS
from mailbox.dialects.mcp.tools import described
from tools.fuzz.examples import BLOCKS, ID, OTHER_ID
from tools.fuzz.mutation import Mutator, as_json
from tools.fuzz.official_requests import STREAM, Got, Wanted
from tools.fuzz.requests import UUID_TEXT

PATH = "/mcp"
KEPT = 100  # ids of earlier answers that later requests may name
OUTPUTS = {tool["name"]: tool["outputSchema"] for tool in described()}
LEASE = {"task_id": ID, "lease_id": OTHER_ID}
ARGUMENTS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "whoami": [{}],
    "list_agents": [{"limit": 2}, {"cursor": "x"}],
    "send_task": [
        {"recipient": "bob", "text": "paint"},
        {
            "recipient": {"display": "bob@local", "pubkey": "x"},
            "text": "paint",
            "id": ID,
            "kind": "house",
            "parent": OTHER_ID,
            "deadline": "2030-01-01T00:00:00Z",
            "work_timeout_ms": 1000,
            "idempotency_key": "k",
            "duplicate_safety": "idempotent",
        },
    ],
    "wait_for_result": [{"task_id": ID, "wait_ms": 1}],
    "read_task": [{"task_id": ID}, {"task_id": ID, "timeline_cursor": "x"}],
    "list_tasks": [{"side": "sent", "state": "queued", "limit": 2}, {"cursor": "x"}],
    "say": [{"task_id": ID, "content": list(BLOCKS), "attempt_id": OTHER_ID}],
    "cancel_task": [{"task_id": ID, "reason": "late"}],
    "receive_task": [{"wait_ms": 1, "attempt_id": OTHER_ID}],
    "held_tasks": [{"limit": 2}],
    "report_progress": [
        LEASE,
        {**LEASE, "fraction": 0.5, "note": "n", "message": "m", "attempt_id": ID},
        {**LEASE, "artifact": {"artifact_id": "a", "name": "A", "content": list(BLOCKS), "append": True}},
    ],
    "ask_sender": [{**LEASE, "question": "which?", "needs": "input", "attempt_id": ID}],
    "answer_task": [{**LEASE, "content": list(BLOCKS), "status": "partial", "error_message": "half", "message": "m"}],
    "release_task": [{**LEASE, "reason": "no paint"}],
}
OTHERS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}),
    ("ping", {}),
    ("server/discover", {}),
    ("tools/list", {"cursor": "x"}),
    ("resources/list", {"cursor": "x"}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": f"a2a://tasks/{ID}"}),
    ("resources/read", {"uri": f"a2a://tasks/{ID}/artifacts/report"}),
    ("notifications/initialized", {}),
)
HEADERS: Mapping[str, Sequence[str]] = {
    "MCP-Protocol-Version": [*VERSIONS, "", "x"],
    "Mcp-Method": ["tools/call", "", "x"],
    "Mcp-Name": ["whoami", "", "=?base64?eA==?=", "=?base64?x?="],
    "Accept": ["*/*", f"application/json, {STREAM}"],
}


@dataclass(slots=True, kw_only=True)
class McpSender:
    """Draws requests from one seed, and sends them by ``call``."""

    call: Callable[[Wanted], Got]
    seed: int
    statuses: Counter[int] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)  # calls of tools that were not refused
    defects: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    mutator: Mutator = field(init=False)

    def __post_init__(self) -> None:
        self.mutator = Mutator(Random(f"{self.seed} mcp"))  # noqa: S311

    def send(self, inputs: int) -> None:
        for _ in range(inputs):
            wanted = self._drawn()
            got = self.call(wanted)
            self.statuses[got.status] += 1
            self.ids = [*self.ids, *UUID_TEXT.findall(got.body.decode(errors="replace")[:4000])][-KEPT:]
            problems = [*problems_of(wanted, got)]
            self.defects += [f"{one}: {wanted.headers} {wanted.body!r} {got.body!r}"[:2000] for one in problems]
            if (name := _answered_tool(wanted, got)) is not None:
                self.answered[name] += 1

    def _drawn(self) -> Wanted:
        random = self.mutator.random
        headers = {name: random.choice(values) for name, values in HEADERS.items() if not random.randrange(4)}
        method, params = self._method()
        example = {"jsonrpc": "2.0", "id": 1, "method": method, "params": self._with_meta(params)}
        known = json.loads(self._named(as_json(example)))
        wanted = [known] if random.randrange(6) else [[known, {**known, "id": "a"}]]
        kind = random.randrange(8)
        if kind == 0:
            body = self.mutator.raw([as_json(one) for one in wanted])
        else:
            body = as_json(wanted[0] if kind < 4 else self.mutator.value(wanted)).encode()
        return Wanted("POST", PATH, {**headers, "Content-Type": "application/json"}, body, is_rpc=True)

    def _method(self) -> tuple[str, Mapping[str, Any]]:
        random = self.mutator.random
        if not random.randrange(4):
            return random.choice(OTHERS)
        name = random.choice(list(ARGUMENTS))
        return "tools/call", {"name": name, "arguments": random.choice(ARGUMENTS[name])}

    def _with_meta(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        token = {"progressToken": "t"}
        envelope = {VERSION_KEY: VERSIONS[-1], CLIENT_KEY: {}}
        return {**params, "_meta": self.mutator.random.choice([{}, token, envelope, {**token, **envelope}])}

    def _named(self, text: str) -> str:
        for example in (ID, OTHER_ID):
            if self.ids and self.mutator.random.randrange(4):
                text = text.replace(example, self.mutator.random.choice(self.ids))
        return text


def messages_of(got: Got) -> list[Any]:
    """Return the messages of an answer: of its JSON, of its batch or of its stream. Raises `ValueError`."""
    if got.media_type != STREAM:
        told = json.loads(got.body)
        return told if isinstance(told, list) else [told]
    frames = got.body.decode().split("\n\n")
    return [json.loads(frame.partition("data: ")[2]) for frame in frames if frame]


def problems_of(wanted: Wanted, got: Got) -> Iterator[str]:
    """Yield what is wrong with an answer; nothing if it has the form of the protocol."""
    if got.status >= 500:
        yield f"status {got.status}"
        return
    if got.status == 202:
        if got.body:
            yield "an answer to a notification has a body"
        return
    try:
        told = messages_of(got)
    except ValueError:
        yield f"{got.media_type} of status {got.status} is not JSON"
        return
    for message in told:
        yield from _problems_of_message(message, got)
    if got.media_type == STREAM and "id" not in told[-1]:
        yield "a stream ends without an answer"
    name = _answered_tool(wanted, got)
    if name is not None and not jsonschema_rs.is_valid(OUTPUTS[name], told[-1]["result"]["structuredContent"]):
        yield f"the answer of {name} does not fit its schema"


def _problems_of_message(message: Mapping[str, Any], got: Got) -> Iterator[str]:
    if message.get("jsonrpc") != "2.0" or len({"result", "error", "method"} & message.keys()) != 1:
        yield "no message of JSON-RPC"
    elif "error" not in message and got.status >= 400:
        yield "a result has the status of an error"


def _answered_tool(wanted: Wanted, got: Got) -> str | None:
    """Return the name of the one tool that a request called, if the tool was not refused."""
    try:
        sent, told = json.loads(wanted.body or b""), messages_of(got)
    except ValueError:
        return None
    is_call = isinstance(sent, dict) and sent.get("method") == "tools/call"
    if not is_call or "structuredContent" not in told[-1].get("result", {}):
        return None
    name: str = sent["params"]["name"]
    return name
