"""The carriage to agents of the official A2A protocol: submits tasks, posts their news, and goes on with conversations.

A message is sent with a message id and an Idempotency-Key that are derived from the task and the number of the message.
So a hub at the other end takes a repeated message once. Another agent may take it twice, so it is sent once per lease.
A snapshot of a task knows what the hub has not posted yet. The end of a remote task becomes the result of the hub's
task, with all that the agent's last message has.
Source: A2A 1.0, SendMessage, GetTask, SubscribeToTask, CancelTask.
"""

import logging
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from uuid import UUID, uuid5

from django.utils import timezone

from agentcards.carriages import official_talk, reporting
from agentcards.carriages.carriage import RemoteSnapshot, Taken
from agentcards.carriages.official_talk import depth_of
from agentcards.carriages.reporting import RemoteEnding
from agentcards.errors import RemoteRefusalError
from agentcards.models import RemoteCall, RemoteConversation
from agentcards.models.remote import MAX_A2A_DEPTH
from agentcards.official_client.bindings import TASK_NOT_FOUND, RemoteOperation
from agentcards.official_client.client import AgentAddress
from agentcards.official_client.interfaces import Binding
from agentcards.official_client.reading import Json, text_in
from agentcards.official_client.shown import Block, ShownArtifact, ShownMessage, ShownTask
from mailbox.database import outages
from mailbox.models import Artifact, Message, Task
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import AnswerTooLargeError, ExternalServiceError, NoAnswerError, ValidationError
from mailbox.words import content
from mailbox.words.a2a.states import TaskState
from mailbox.words.conversation import ArtifactUpdate, Details, Update, UpdateStatus
from mailbox.words.envelopes import ResultStatus

NO_REASON = "The remote agent gave no reason."
_QUESTIONS = {
    TaskState.INPUT_REQUIRED: UpdateStatus.INPUT_REQUIRED,
    TaskState.AUTH_REQUIRED: UpdateStatus.AUTH_REQUIRED,
}
_logger = logging.getLogger(__name__)


def ending_of_answer(message: ShownMessage, *, is_direct: bool) -> RemoteEnding:
    """Return the ending by a message instead of a task. ``is_direct``: it answers the task's first message."""
    if is_direct and message.blocks:
        details = _worth_a_row(message)
        return RemoteEnding(status=ResultStatus.OK, content=message.blocks, is_direct=True, details=details)
    return _closed(ResultStatus.OK, message)


def ending_of_task(shown: ShownTask) -> RemoteEnding:
    """Return the ending by a task that has ended.

    The last message of a completed task is its closing words. That of any other is the error message, by its text, and
    the closing words have the rest.
    """
    state, closing = shown.state, shown.closing
    if state == TaskState.COMPLETED:
        return _closed(ResultStatus.PARTIAL if shown.is_partial else ResultStatus.OK, closing)
    words = content.text_of(closing.blocks) if closing else ""
    if state == TaskState.REJECTED:
        ending = RemoteEnding(status=ResultStatus.REJECTED, error=words if words.strip() else NO_REASON)
    elif state == TaskState.CANCELED:
        ending = RemoteEnding.failed(f"the remote agent cancelled the task: {words}".removesuffix(": "))
    else:
        ending = RemoteEnding.failed(words or "Task failed")
    if closing is None:
        return ending
    rest = _beside(words, closing.blocks)
    return replace(ending, closing=rest, details=closing.details if rest else _worth_a_row(closing))


def _closed(status: ResultStatus, message: ShownMessage | None) -> RemoteEnding:
    if message is None or not message.blocks:
        return RemoteEnding(status=status)
    return RemoteEnding(status=status, closing=message.blocks, details=message.details)


def _beside(words: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks that ``words`` do not tell: those after the plain texts, if the words are these texts."""
    plain = list(takewhile(lambda block: block.keys() == {"type", "text"}, blocks))
    return blocks[len(plain) :] if content.text_of(plain) == words else blocks


def _worth_a_row(message: ShownMessage) -> Details | None:
    """Return the details of the message; None if it has no more than an id, for which no row is stored."""
    return message.details if message.details.extra != Details().extra else None


@dataclass(frozen=True, slots=True)
class OfficialSnapshot:
    """A task as its agent shows it now, in the conversation of the hub's task."""

    conversation: RemoteConversation
    shown: ShownTask

    @property
    def ending(self) -> RemoteEnding | None:
        """The result. The artifacts of the task are posted before it."""
        return ending_of_task(self.shown) if self.shown.state.is_terminal else None

    def report(self, call: RemoteCall) -> bool:
        """Post messages, artifacts and a question, each once for the whole task, also if several carriers see it."""
        if self.shown.state.is_terminal:
            RemoteConversation.objects.filter(pk=self.conversation.pk).update(has_ended=True)
        news = list(self._news(call.lease.task))
        for attempt_id, update in news:
            if not reporting.post_once(call, update, attempt_id):
                return False
        question = self._question()
        if question is not None:
            self._ask(call, question)
            return False
        return bool(news) or reporting.heartbeat(call)

    def _ask(self, call: RemoteCall, question: Update) -> None:
        conversation = RemoteConversation.objects.filter(pk=self.conversation.pk)
        if question.status == UpdateStatus.AUTH_REQUIRED:  # stored first: a carrier may die after the post
            conversation.update(next_look_at=timezone.now())
        attempt_id = uuid5(call.lease.task.uuid, f"question {self.conversation.told_turn} {self.shown.question}")
        if reporting.post_once(call, question, attempt_id):
            conversation.update(asked=self.shown.question)

    def _news(self, task: Task) -> Iterator[tuple[UUID, Update | ArtifactUpdate]]:
        """Yield what was not posted yet, with the id of the attempt at each."""
        posted_ids = {message.message_id for message in Message.objects.filter(task=task).of_role(Message.Role.AGENT)}
        held = self.shown.closing if self.shown.state.is_terminal or self._question() else None
        for message in self.shown.words:
            is_new = message is not held and message.message_id not in posted_ids
            if is_new and (message.blocks or message.progress is not None):
                posted_ids.add(message.message_id)
                yield uuid5(task.uuid, f"message {message.message_id}"), _update(message)
        rows = list(Artifact.objects.filter(task=task).in_order())
        posted = {one.artifact_id: one for one in whole(rows)}
        for artifact in self.shown.artifacts.values():
            known = posted.get(artifact.artifact_id)
            if (change := _change(artifact, known, is_last=self.shown.state.is_terminal)) is not None:
                count = sum(row.artifact_id == artifact.artifact_id for row in rows)
                yield uuid5(task.uuid, f"artifact {artifact.artifact_id} row {count}"), change

    def _question(self) -> Update | None:
        """Return the question that the agent puts now; None without one, or if it was put to the sender before."""
        status = _QUESTIONS.get(self.shown.state)
        if status is None or self.shown.question == self.conversation.asked:
            return None
        closing = self.shown.closing
        blocks: Sequence[Block] = closing.blocks if closing else ()
        if not blocks and status == UpdateStatus.AUTH_REQUIRED:
            blocks = [{"type": "text", "text": "The remote agent needs an authorization."}]
        return replace(_update(closing) if closing else Update(), message=blocks, progress=None, status=status)


def _update(message: ShownMessage) -> Update:
    return Update(
        message=message.blocks,
        message_id=message.message_id,
        metadata=message.metadata or None,
        extensions=message.extensions,
        reference_task_ids=message.reference_task_ids,
        progress=message.progress,
    )


def _change(artifact: ShownArtifact, known: WholeArtifact | None, *, is_last: bool) -> ArtifactUpdate | None:
    """Return the update that makes the posted artifact equal to the shown one; None if it is equal.

    Blocks that only were added are posted as a chunk. Details that were removed stay.
    """
    blocks = [dict(block) for block in artifact.blocks]
    append = known is not None and blocks[: len(known.blocks)] == known.blocks
    added = blocks[len(known.blocks) :] if known is not None and append else blocks
    if not added:
        return None
    details = artifact.details
    return ArtifactUpdate(
        artifact_id=artifact.artifact_id,
        content=added,
        name=details.get("name"),
        description=details.get("description"),
        metadata=details.get("metadata"),
        extensions=tuple(details.get("extensions", ())),
        append=append,
        last_chunk=is_last or artifact.is_complete,
    )


class OfficialCarriage:
    """The way to agents with the URL of a card."""

    def urls(self, call: RemoteCall) -> Sequence[str]:
        urls = [AgentAddress.parse(call.base_url).card_url, BaseUrl.parse(call.base_url).text]
        if (conversation := official_talk.of_task(call.lease.task)) is not None:
            urls += [conversation.interface_url, conversation.interface_url.rstrip("/")]
        return sorted(urls, key=len, reverse=True)

    def submit(self, call: RemoteCall) -> Taken | RemoteEnding | None:
        """Send the messages of the sender that the agent was not sent yet."""
        task = call.lease.task
        if (depth := depth_of(task)) > MAX_A2A_DEPTH:
            return RemoteEnding.failed(f"Invocation depth limit exceeded: {depth - 1} agents have passed it on")
        conversation = official_talk.of_task(task) or official_talk.begin(task, call.base_url)
        agent = official_talk.agent_of(conversation, call.base_url)
        if not _is_claimed(call, timezone.now()):
            return None
        seen: ShownTask | ShownMessage | None = None
        while conversation.told_turn < task.turn:
            seen = official_talk.send(agent, conversation)
            # Before its answer is posted, the last message does not count as sent: no poll could bring the answer.
            if conversation.told_turn < task.turn or not isinstance(seen, ShownMessage):
                official_talk.store(conversation)
        if isinstance(seen, ShownMessage):
            return ending_of_answer(seen, is_direct=task.turn == 1)
        if conversation.remote_task_id is None:
            raise ExternalServiceError("the answer of the agent was lost")
        snapshot = OfficialSnapshot(conversation, seen) if seen else None
        return Taken(remote_task_id=conversation.remote_task_id, snapshot=snapshot)

    def look(self, call: RemoteCall) -> RemoteSnapshot | None:
        conversation = official_talk.of_task(call.lease.task)
        if conversation is None:
            return None
        try:
            agent = official_talk.agent_of(conversation, call.base_url)
            official_talk.tell_more(agent, conversation)
            return OfficialSnapshot(conversation, official_talk.shown_now(agent, conversation))
        except RemoteRefusalError as refusal:
            return LostSnapshot() if refusal.reason == TASK_NOT_FOUND else None
        except (ExternalServiceError, ValidationError) as error:
            if isinstance(error, AnswerTooLargeError) and error.is_success:
                raise
            _logger.debug("polling a remote task failed: %s", error)
            return None

    def follows(self, call: RemoteCall) -> bool:
        """Agents of 0.3 are polled: a stream there does not begin with the task."""
        conversation = official_talk.of_task(call.lease.task)
        return bool(conversation and conversation.streams and conversation.binding != Binding.JSONRPC_0_3)

    def snapshots(self, call: RemoteCall, *, within: float) -> Generator[RemoteSnapshot]:
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
                    yield OfficialSnapshot(conversation, shown)
        except (ExternalServiceError, ValidationError) as error:
            _logger.debug("following a remote task ended: %s", error)
            if isinstance(error, NoAnswerError) and not error.timed_out:
                return
        if shown is None:
            RemoteConversation.objects.filter(pk=conversation.pk).update(streams=False)


@outages.outlasted
def _is_claimed(call: RemoteCall, now: datetime) -> bool:
    """Whether no other carrier submits the task. Another may have begun if the card or the database came late."""
    return now - call.began_at < RemoteCall.SUBMISSION_LASTS / 2 or call.claim_submission(now)


class LostSnapshot:
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
