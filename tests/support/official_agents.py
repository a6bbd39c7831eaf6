"""An agent of the official protocol and its tasks, apart from HTTP. `official_servers` serves it."""

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
JSONRPC, REST, OLDER = "jsonrpc-1.0", "rest-1.0", "jsonrpc-0.3"
BINDINGS = (JSONRPC, REST, OLDER)
ENDED = ("COMPLETED", "FAILED", "CANCELED", "REJECTED")
INTERRUPTED = ("INPUT_REQUIRED", "AUTH_REQUIRED")
REASONS = {
    "TASK_NOT_FOUND": (-32001, 404),
    "UNSUPPORTED_OPERATION": (-32004, 400),
    "TASK_NOT_CANCELABLE": (-32002, 400),
}

# The steps of the agent at a task, by the first word of its text. Each poll is one step; a stream shows all steps.
SCRIPTS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "work": [
        ("status", "WORKING", "step 1"),
        ("artifact", "out", "echo: "),
        ("append", "out", "work"),
        ("status", "COMPLETED", "done"),
    ],
    "slow": [
        ("status", "WORKING", "step 1"),
        *[("pause", "", "")] * 8,
        ("artifact", "out", "echo: "),
        ("append", "out", "slow"),
        ("status", "COMPLETED", "done"),
    ],
    "ask": [("status", "INPUT_REQUIRED", "which one?")],
    "auth": [("status", "AUTH_REQUIRED", "sign in")],
    "fail": [("status", "FAILED", "no ink")],
    "reject": [("status", "REJECTED", "not mine")],
    "cancelled": [("status", "CANCELED", "")],
    "bare": [("status", "COMPLETED", "")],
    "progress": [("status", "WORKING", "half", "0.5"), ("status", "COMPLETED", "")],
    "never": [],
}
AFTER_AN_ANSWER = [("artifact", "out", "answered"), ("status", "COMPLETED", "thanks")]


class RefusedError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.code, self.status = REASONS[reason]
        self.info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": "a2a-protocol.org",
        }


@dataclass
class Official:
    """The agent. ``binding`` is what its card offers. ``requests`` records what came, ``keys`` the idempotency keys."""

    url: str = ""
    binding: str = JSONRPC
    streams: bool = False
    is_hub: bool = False
    busy: bool = False
    poll_status: int = 200
    card: Json = field(default_factory=dict)
    tasks: dict[str, Json] = field(default_factory=dict)
    scripts: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    by_key: dict[str, str] = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)
    sent: list[Json] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    gate: threading.Event = field(default_factory=threading.Event)  # a stream waits for it before its second step
    over: threading.Event = field(default_factory=threading.Event)
    beat: float = 0  # seconds between the steps of a stream

    def card_document(self) -> Json:
        urls = {JSONRPC: f"{self.url}/rpc", REST: f"{self.url}/rest", OLDER: f"{self.url}/older"}
        extensions = [{"uri": "urn:a2a-hub:generation:v1"}] if self.is_hub else []
        common = {
            "name": "Offie",
            "description": "Repeats each message",
            "version": "1.0.0",
            "capabilities": {"streaming": self.streams, "extensions": extensions},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        }
        if self.binding == OLDER:
            return {
                **common,
                "protocolVersion": "0.3.0",
                "url": urls[OLDER],
                "preferredTransport": "JSONRPC",
                **self.card,
            }
        protocol = "JSONRPC" if self.binding == JSONRPC else "HTTP+JSON"
        interface = {"url": urls[self.binding], "protocolBinding": protocol, "protocolVersion": "1.0"}
        return {**common, "supportedInterfaces": [interface], **self.card}

    def operate(self, operation: str, params: Json, headers: Mapping[str, str]) -> Json | Iterator[Json]:
        with self.lock:
            self.operations.append(operation)
            if operation in ("SendMessage", "SendStreamingMessage"):
                task = self._send(params["message"], headers)
                if operation == "SendMessage":
                    return {"message": task} if "parts" in task else {"task": task}
                return iter([{"message": task}]) if "parts" in task else self._stream(task)
            task = self.task_of(params["id"])
            if operation == "GetTask":
                self._advance(task)
                return task
            if operation == "CancelTask":
                if self._state(task) in ENDED:
                    raise RefusedError("TASK_NOT_CANCELABLE")
                self._step(task, ("status", "CANCELED", ""))
                return task
            if self._state(task) in ENDED:
                raise RefusedError("UNSUPPORTED_OPERATION")
            return self._stream(task)

    def task_of(self, task_id: str) -> Json:
        if task_id not in self.tasks:
            raise RefusedError("TASK_NOT_FOUND")
        return self.tasks[task_id]

    def _send(self, message: Json, headers: Mapping[str, str]) -> Json:
        self.sent.append(message)
        key = headers.get("idempotency-key", "") if self.is_hub else ""
        if key and key in self.by_key:
            return self.tasks[self.by_key[key]]
        text = message["parts"][0].get("text", "")
        if message.get("taskId"):
            task = self.task_of(message["taskId"])
            if self._state(task) in ENDED:
                raise RefusedError("UNSUPPORTED_OPERATION")
            self._keep_status_message(task)
            task["history"].append(message)
            self.scripts[task["id"]] = [*AFTER_AN_ANSWER]
        elif text.startswith("message"):
            return {"messageId": str(uuid.uuid4()), "role": "ROLE_AGENT", "parts": [{"text": f"{text}: at once"}]}
        else:
            task = self._new(message, text)
        if key:
            self.by_key[key] = task["id"]
        return task

    def _new(self, message: Json, text: str) -> Json:
        task_id = str(uuid.uuid4())
        task = {"id": task_id, "contextId": message.get("contextId") or str(uuid.uuid4()), "history": [message]}
        self.tasks[task_id] = task | {"status": {"state": "TASK_STATE_SUBMITTED", "timestamp": self._now()}}
        self.scripts[task_id] = [*SCRIPTS.get(text.partition(" ")[0], SCRIPTS["work"])]
        return self.tasks[task_id]

    def _advance(self, task: Json) -> Json | None:
        script = self.scripts[task["id"]]
        return self._step(task, script.pop(0)) if script else None

    def _step(self, task: Json, step: tuple[str, ...]) -> Json:
        ids = {"taskId": task["id"], "contextId": task["contextId"]}
        kind, name, text, *more = step
        if kind == "pause":
            return {"statusUpdate": {**ids, "status": {"state": task["status"]["state"]}}}
        if kind == "status":
            self._keep_status_message(task)
            task["status"] = {"state": f"TASK_STATE_{name}", "timestamp": self._now()}
            if text:
                said = {"messageId": str(uuid.uuid4()), "role": "ROLE_AGENT", "parts": [{"text": text}], **ids}
                task["status"]["message"] = said | ({"metadata": {"progress": float(more[0])}} if more else {})
            return {"statusUpdate": {**ids, "status": task["status"]}}
        artifacts = task.setdefault("artifacts", [])
        chunk = {"artifactId": name, "name": name, "parts": [{"text": text}]}
        if kind == "append":
            artifacts[-1] = {**artifacts[-1], "parts": [*artifacts[-1]["parts"], {"text": text}]}
        else:
            artifacts.append(chunk)
        return {"artifactUpdate": {**ids, "artifact": chunk, "append": kind == "append"}}

    def _stream(self, task: Json) -> Iterator[Json]:
        with self.lock:
            first = json.loads(json.dumps(task))
        yield {"task": first}
        while True:
            with self.lock:
                event = self._advance(task)
            if event is not None:
                yield event
            if event is None or self._state(task) in (*ENDED, *INTERRUPTED):
                return
            self.gate.wait()
            self.over.wait(self.beat)

    def _keep_status_message(self, task: Json) -> None:
        if said := task.get("status", {}).pop("message", None):
            task["history"].append(said)

    def _state(self, task: Json) -> str:
        return str(task["status"]["state"]).removeprefix("TASK_STATE_")

    def _now(self) -> str:
        self._ticks = getattr(self, "_ticks", 0) + 1
        return f"2026-01-02T03:04:05.{self._ticks:03d}Z"
