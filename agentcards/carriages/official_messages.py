"""The messages of a task's sender, as the official protocol carries them to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from agentcards.models import RemoteConversation
from mailbox.models import Message, Task
from mailbox.words import json_text
from mailbox.words.a2a.opening import opening_of
from mailbox.words.a2a.parts import parts_of, readable
from mailbox.words.a2a.v1_0 import HUB

Json = dict[str, Any]
DEPTH = "depth"


def message_id(task: Task, turn: int) -> str:
    """Return the id of the sender's message of this number. A repeat of the message has the same id."""
    return str(uuid5(task.uuid, f"turn {turn}"))


def send_params(task: Task, conversation: RemoteConversation, turn: int) -> Json:
    """Return the params of SendMessage for the sender's message of this number, 1 for the task itself.

    The agent shall answer at once. A context of the hub becomes a context of its sender at the remote agent.
    """
    message = {**(_first(task) if turn == 1 else _later(task, turn)), "role": "ROLE_USER"}
    message["messageId"] = message_id(task, turn)
    if conversation.remote_task_id is not None:
        message["taskId"] = conversation.remote_task_id
        if conversation.remote_context_id:
            message["contextId"] = conversation.remote_context_id
    elif task.context_id is not None:
        message["contextId"] = str(uuid5(NAMESPACE_URL, f"{task.sender.pubkey} {task.context_id}"))
    configuration: Json = {"returnImmediately": True}
    if modes := task.official_metadata.get("accepted_output_modes"):
        configuration["acceptedOutputModes"] = modes
    return {"message": message, "configuration": configuration}


def depth_of(task: Task) -> int:
    """Return the number of agents that have passed the task on, the hub included."""
    inner = opening_of("", task.official_metadata).extra.get("metadata", {})
    of_hub = inner.get(HUB)
    depths = [json_text.loads(task.metadata).get(DEPTH), of_hub.get(DEPTH) if isinstance(of_hub, Mapping) else None]
    return 1 + max((depth for depth in depths if type(depth) is int and depth > 0), default=0)


def _first(task: Task) -> Json:
    opening = opening_of(task.intent_text, task.official_metadata)
    own = opening.extra.get("metadata", {})
    message: Json = {"parts": parts_of(opening.blocks), "metadata": {**readable(own), HUB: {DEPTH: depth_of(task)}}}
    if opening.extra.get("extensions"):
        message["extensions"] = opening.extra["extensions"]
    return message


def _later(task: Task, turn: int) -> Json:
    row = Message.objects.filter(task=task).of_role(Message.Role.USER).in_order()[turn - 2]
    message: Json = {"parts": parts_of(row.words)}
    if row.details.get("metadata"):
        message["metadata"] = readable(row.details["metadata"])
    if row.details.get("extensions"):
        message["extensions"] = row.details["extensions"]
    return message
