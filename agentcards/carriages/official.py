"""Carries tasks to agents of the official A2A protocol, and goes on with their conversations.

A message is sent with a message id and an Idempotency-Key that are derived from the task and the number of the message.
So a hub at the other end takes a repeated message once. Another agent may take it twice, so it is sent once per lease.
Source: A2A 1.0, SendMessage, GetTask, SubscribeToTask, CancelTask.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence

from agentcards.carriages import official_endings as endings
from agentcards.carriages import official_talk
from agentcards.carriages.carriage import Sight, Taken
from agentcards.carriages.official_messages import depth_of
from agentcards.carriages.official_sight import OfficialSight
from agentcards.carriages.reporting import RemoteEnding
from agentcards.errors import RemoteRefusalError
from agentcards.models import RemoteCall, RemoteConversation
from agentcards.models.remote import MAX_A2A_DEPTH
from agentcards.official_client.bindings import TASK_NOT_FOUND, RemoteOperation
from agentcards.official_client.client import AgentAddress
from agentcards.official_client.interfaces import Binding
from agentcards.official_client.reading import Json, text_in
from agentcards.official_client.shown import ShownMessage, ShownTask
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import AnswerTooLargeError, ExternalServiceError, NoAnswerError, ValidationError

_logger = logging.getLogger(__name__)


class OfficialCarriage:
    """The way to agents with the URL of a card."""

    def urls(self, call: RemoteCall) -> Sequence[str]:
        found = [AgentAddress.parse(call.base_url).card_url, BaseUrl.parse(call.base_url).text]
        if (conversation := official_talk.of_task(call.lease.task)) is not None:
            found += [conversation.interface_url, conversation.interface_url.rstrip("/")]
        return sorted(found, key=len, reverse=True)

    def submit(self, call: RemoteCall) -> Taken | RemoteEnding:
        """Send the messages of the sender that the agent was not sent yet."""
        task = call.lease.task
        if (depth := depth_of(task)) > MAX_A2A_DEPTH:
            return RemoteEnding.failed(f"Invocation depth limit exceeded: {depth - 1} agents have passed it on")
        conversation = official_talk.of_task(task) or official_talk.begin(task, call.base_url)
        agent = official_talk.agent_of(conversation, call.base_url)
        seen: ShownTask | ShownMessage | None = None
        while conversation.told_turn < task.turn:
            seen = official_talk.send(agent, conversation)
        if isinstance(seen, ShownMessage):
            return endings.of_answer(seen, is_direct=task.turn == 1)
        if seen is None:
            return Taken(remote_task_id=conversation.remote_task_id or "")
        return Taken(remote_task_id=seen.task_id, sight=OfficialSight(conversation, seen))

    def look(self, call: RemoteCall) -> Sight | None:
        conversation = official_talk.of_task(call.lease.task)
        if conversation is None:
            return None
        try:
            agent = official_talk.agent_of(conversation, call.base_url)
            official_talk.tell_more(agent, conversation)
            return OfficialSight(conversation, official_talk.shown_now(agent, conversation))
        except RemoteRefusalError as refusal:
            return LostSight() if refusal.reason == TASK_NOT_FOUND else None
        except (ExternalServiceError, ValidationError) as error:
            if isinstance(error, AnswerTooLargeError) and error.is_success:
                raise
            _logger.debug("polling a remote task failed: %s", error)
            return None

    def follows(self, call: RemoteCall) -> bool:
        """Agents of 0.3 are polled: a stream there does not begin with the task."""
        conversation = official_talk.of_task(call.lease.task)
        return bool(conversation and conversation.streams and conversation.binding != Binding.JSONRPC_0_3)

    def sights(self, call: RemoteCall, *, within: float) -> Generator[Sight]:
        """Yield what the stream shows. An agent that is there, and streams no task, is polled from then on."""
        conversation = official_talk.of_task(call.lease.task)
        if conversation is None:
            return
        shown: ShownTask | None = None
        try:
            agent = official_talk.agent_of(conversation, call.base_url)
            official_talk.tell_more(agent, conversation)
            wanted: Json = {"id": conversation.remote_task_id}
            with agent.stream(RemoteOperation.SUBSCRIBE, wanted, within=within) as events:
                for event in events:
                    shown = _after(shown, event)
                    if shown is None:
                        break
                    yield OfficialSight(conversation, shown)
        except (ExternalServiceError, ValidationError) as error:
            _logger.debug("following a remote task ended: %s", error)
            if isinstance(error, NoAnswerError) and not error.timed_out:
                return
        if shown is None:
            RemoteConversation.objects.filter(pk=conversation.pk).update(streams=False)


class LostSight:
    """A remote task that its agent does not know any more."""

    ending = RemoteEnding.failed("the remote agent does not know the task any more")

    def report(self, call: RemoteCall) -> bool:
        RemoteConversation.objects.filter(task=call.lease.task_id).update(has_ended=True)
        return True


def _after(shown: ShownTask | None, event: Json) -> ShownTask | None:
    """Return the task after an event; None if the stream does not begin with the task."""
    if shown is not None:
        return shown.after(event)
    first = event if text_in(event, "id") else event.get("task")
    return ShownTask.of(first) if isinstance(first, dict) else None
