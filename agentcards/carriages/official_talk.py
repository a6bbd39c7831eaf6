"""The conversation with an agent of the official protocol about one task: its row, its messages and its calls."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import uuid5

from agentcards.errors import PutOffError, RemoteRefusalError
from agentcards.fields import UNREADABLE
from agentcards.models import AgentProfile, RemoteConversation
from agentcards.official_client import client
from agentcards.official_client.bindings import UNSUPPORTED_OPERATION, RemoteOperation
from agentcards.official_client.client import IDEMPOTENCY_KEY, LOOK_WITHIN, AgentAddress, ReachedAgent
from agentcards.official_client.interfaces import Binding, Interface
from agentcards.official_client.shown import ShownMessage, ShownTask, answer_of
from mailbox.database import outages
from mailbox.models import Message, Task
from mailbox.outbound import destinations, errors
from mailbox.words import json_text
from mailbox.words.a2a.fold import opening_of
from mailbox.words.a2a.parts import parts_of, readable
from mailbox.words.a2a.v1_0 import HUB

Json = dict[str, Any]
DEPTH = "depth"
MOST_HISTORY = 100  # messages of one poll
_logger = logging.getLogger(__name__)


def message_id(task: Task, turn: int) -> str:
    """Return the id of the sender's message of this number. A repeat of the message has the same id."""
    return str(uuid5(task.uuid, f"turn {turn}"))


@outages.outlasted
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
        message["contextId"] = task.context_for(task.recipient)
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


@outages.outlasted
def of_task(task: Task) -> RemoteConversation | None:
    """Return the conversation about a task, with the task; None before its first submission."""
    conversation = RemoteConversation.objects.filter(task=task).first()
    if conversation is not None:
        conversation.task = task
    return conversation


@outages.outlasted
def begin(task: Task, url: str) -> RemoteConversation:
    """Read the agent's card, and store with which of its interfaces the conversation is held.

    ``url`` is the URL of the card, used if the profile names none now. Raises `PutOffError` if the card cannot be read
    now, and another `ExternalServiceError` if the hub speaks none of its interfaces. Nothing is submitted.
    """
    address = _address(task, url)
    try:
        offered = client.discover(address)
    except (errors.BlockedUrlError, errors.NotReachedError):
        raise
    except errors.ValidationError as error:
        raise errors.ExternalServiceError(error.message) from error
    except errors.ExternalServiceError as error:
        raise PutOffError("the card of the agent cannot be read", detail=error.message) from error
    interface = {
        "interface_url": offered.interface.url,
        "binding": offered.interface.binding,
        "tenant": offered.interface.tenant,
        "streams": offered.interface.streams,
        "key_header": offered.interface.key_header,
        "is_hub": offered.interface.is_hub,
    }
    return RemoteConversation.objects.get_or_create(task=task, defaults=interface)[0]


def agent_of(conversation: RemoteConversation, url: str = "") -> ReachedAgent:
    """Return the agent at the interface of the conversation.

    The credentials are those of the agent's profile now, if its card is at the interface's server, else none.
    """
    interface = Interface(
        url=conversation.interface_url,
        binding=Binding(conversation.binding),
        tenant=conversation.tenant,
        streams=conversation.streams,
        key_header=conversation.key_header,
        is_hub=conversation.is_hub,
    )
    address = _address(conversation.task, url)
    if destinations.receiver(address.card_url) != destinations.receiver(interface.url):
        address = AgentAddress(card_url=address.card_url)
    return client.reached(address, interface)


def send(agent: ReachedAgent, conversation: RemoteConversation) -> ShownTask | ShownMessage | None:
    """Send the next message of the sender. Return what the answer shows. The caller stores that it was sent.

    Returns None if the remote task has ended, so that it takes no message. Raises `PutOffError` if the agent takes
    nothing now, or does a repeated message once; another `ExternalServiceError` as `ReachedAgent.call`.
    """
    turn = conversation.told_turn + 1
    params = send_params(conversation.task, conversation, turn)
    key = {IDEMPOTENCY_KEY: message_id(conversation.task, turn)}
    seen: ShownTask | ShownMessage | None = None
    try:
        seen = answer_of(agent.call(RemoteOperation.SEND, params, more=key))
    except RemoteRefusalError as refusal:
        if refusal.is_busy:
            raise PutOffError("the agent takes no message now") from refusal
        if turn == 1 or refusal.reason != UNSUPPORTED_OPERATION:
            raise
    except errors.NotReachedError:
        raise
    except errors.NoAnswerError as failure:
        if conversation.is_hub:
            raise PutOffError("the agent did not answer", detail=failure.message) from failure
        raise
    conversation.told_turn = turn
    if isinstance(seen, ShownTask):
        conversation.remote_task_id, conversation.remote_context_id = seen.task_id, seen.context_id
    return seen


def tell_more(agent: ReachedAgent, conversation: RemoteConversation) -> None:
    """Send the sender's newer messages while the agent works.

    An agent that is no hub is sent each message at most once, also if it is lost on the way. Raises as `send` for a hub
    that cannot be called.
    """
    while conversation.told_turn < conversation.task.turn:
        turn = conversation.told_turn + 1
        if not conversation.is_hub:
            RemoteConversation.objects.filter(pk=conversation.pk).update(told_turn=turn)
        try:
            send(agent, conversation)
        except errors.ExternalServiceError as failure:
            if conversation.is_hub and not isinstance(failure, RemoteRefusalError):
                raise
            _logger.info("a message of the sender was not taken by %s: %s", conversation, failure)
            conversation.told_turn = turn
        store(conversation)


@outages.outlasted
def store(conversation: RemoteConversation) -> None:
    """Store which messages were sent, and with which remote task the agent answered."""
    conversation.save(update_fields=["told_turn", "remote_task_id", "remote_context_id"])


def shown_now(agent: ReachedAgent, conversation: RemoteConversation) -> ShownTask:
    """Poll the remote task. Raises as `ReachedAgent.call`."""
    wanted = {"id": conversation.remote_task_id, "historyLength": MOST_HISTORY}
    return ShownTask.of(agent.call(RemoteOperation.GET, wanted, within=LOOK_WITHIN))


def cancel(conversation: RemoteConversation) -> None:
    """Ask the agent to cancel the remote task, once. Failures are only logged."""
    try:
        agent_of(conversation).call(RemoteOperation.CANCEL, {"id": conversation.remote_task_id}, within=LOOK_WITHIN)
    except (errors.ExternalServiceError, errors.ValidationError) as error:
        _logger.info("the remote agent did not cancel %s: %s", conversation, error)


@outages.outlasted
def _address(task: Task, url: str) -> AgentAddress:
    """Return where the card of the task's recipient is: by its profile, else at ``url``.

    Raises `BlockedUrlError` without a usable URL.
    """
    profile = AgentProfile.objects.filter(agent=task.recipient_id).exclude(card_url="").first()
    if profile is None or UNREADABLE in (profile.card_url, profile.card_key):
        return AgentAddress.parse(url)
    return AgentAddress.parse(profile.card_url, profile.card_key)
