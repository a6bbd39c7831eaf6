"""Carries tasks to corvid-agents: submits them to ``/a2a/tasks/send`` and polls them. Source: corvid-agent, client."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid5

from agentcards import client
from agentcards.carriages import reporting
from agentcards.carriages.carriage import RemoteSnapshot, Taken
from agentcards.carriages.reporting import RemoteEnding
from agentcards.client import RemoteTask
from agentcards.models import RemoteCall
from agentcards.models.remote import MAX_A2A_DEPTH
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultStatus

LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS = 1_000, 600_000  # the bounds of corvid-agent's timeoutMs


@dataclass(frozen=True, slots=True)
class CorvidSnapshot:
    """A task as a corvid-agent shows it."""

    shown: RemoteTask

    @property
    def ending(self) -> RemoteEnding | None:
        if not self.shown.has_ended:
            return None
        if self.shown.error is not None:
            return RemoteEnding.failed(self.shown.error)
        text = self.shown.response_text
        return RemoteEnding(status=ResultStatus.OK, content=[] if text is None else [{"type": "text", "text": text}])

    def report(self, call: RemoteCall) -> bool:
        """Post the agent messages that were not posted before, each once, without the answer."""
        texts = self.shown.texts[:-1] if self.shown.has_ended else self.shown.texts
        fresh = [(number, text) for number, text in enumerate(texts) if number >= call.messages_seen and text]
        for number, text in fresh:
            update = Update(message=[{"type": "text", "text": text}])
            if not reporting.post_once(call, update, uuid5(call.lease.lease_id, f"message {number}")):
                return False
        if len(texts) > call.messages_seen:
            RemoteCall.objects.filter(pk=call.pk, messages_seen__lt=len(texts)).update(messages_seen=len(texts))
        return bool(fresh) or reporting.heartbeat(call)


class CorvidCarriage:
    """The way to agents with a remote URL."""

    def urls(self, call: RemoteCall) -> Sequence[str]:
        return [BaseUrl.parse(call.base_url).text]

    def submit(self, call: RemoteCall) -> Taken | RemoteEnding:
        base, task = BaseUrl.parse(call.base_url), call.lease.task
        metadata = json_text.loads(task.metadata)
        skill, depth = metadata.get("skill"), _depth_of(metadata)
        if depth is not None and depth > MAX_A2A_DEPTH:
            return RemoteEnding.failed(f"Invocation depth limit exceeded: {depth - 1} agents have passed it on")
        remote_task_id = client.submit(
            base,
            task.intent_text,
            skill=skill if isinstance(skill, str) else None,
            timeout_ms=min(max(call.timeout_ms, LEAST_TIMEOUT_MS), MOST_TIMEOUT_MS),
            depth=depth,
        )
        return Taken(remote_task_id=remote_task_id, note=f"submitted to {base.host} as {remote_task_id}")

    def look(self, call: RemoteCall) -> RemoteSnapshot | None:
        try:
            shown = client.look(BaseUrl.parse(call.base_url), call.remote_task_id or "")
        except BlockedUrlError:
            return None
        return None if shown is None else CorvidSnapshot(shown)

    def follows(self, call: RemoteCall) -> bool:
        return False

    def snapshots(self, call: RemoteCall, *, within: float) -> Generator[RemoteSnapshot]:
        yield from ()


def _depth_of(metadata: Mapping[str, Any]) -> int | None:
    """Return the number of agents that have passed the task on, including the hub; None if its sender did not count."""
    depth = metadata.get("depth")
    return depth + 1 if type(depth) is int and depth > 0 else None
