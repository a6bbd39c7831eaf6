"""A task as its agent shows it in the official protocol, and the news in it that the hub has not posted yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from django.utils import timezone

from agentcards.carriages import official_endings as endings
from agentcards.carriages import reporting
from agentcards.carriages.reporting import RemoteEnding
from agentcards.models import RemoteCall, RemoteConversation
from agentcards.official_client.shown import Block, ShownArtifact, ShownMessage, ShownTask
from mailbox.models import Artifact, Message, Task
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.words.a2a.states import TaskState
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus

_QUESTIONS = {
    TaskState.INPUT_REQUIRED: UpdateStatus.INPUT_REQUIRED,
    TaskState.AUTH_REQUIRED: UpdateStatus.AUTH_REQUIRED,
}


@dataclass(frozen=True, slots=True)
class OfficialSight:
    """A task as its agent shows it now, in the conversation of the hub's task."""

    conversation: RemoteConversation
    shown: ShownTask

    @property
    def ending(self) -> RemoteEnding | None:
        """The result. The artifacts of the task are posted before it."""
        return endings.of_task(self.shown) if self.shown.state.is_terminal else None

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
        task = call.lease.task
        asked = self.shown.question
        if reporting.post_once(call, question, uuid5(task.uuid, f"question {self.conversation.told_turn} {asked}")):
            again = timezone.now() if question.status == UpdateStatus.AUTH_REQUIRED else None
            RemoteConversation.objects.filter(pk=self.conversation.pk).update(asked=asked, next_look_at=again)

    def _news(self, task: Task) -> Iterator[tuple[UUID, Update | ArtifactUpdate]]:
        """Yield what was not posted yet, with the id of the attempt at each."""
        told = {said.message_id for said in Message.objects.filter(task=task).of_role(Message.Role.AGENT)}
        held = self.shown.closing if self.shown.state.is_terminal or self._question() else None
        for said in self.shown.words:
            if said is not held and said.message_id not in told and (said.blocks or said.progress is not None):
                told.add(said.message_id)
                yield uuid5(task.uuid, f"message {said.message_id}"), _update(said)
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
        return Update(
            message=blocks,
            message_id=closing.message_id if closing else "",
            metadata=closing.metadata or None if closing else None,
            extensions=closing.extensions if closing else (),
            reference_task_ids=closing.reference_task_ids if closing else (),
            status=status,
        )


def _update(said: ShownMessage) -> Update:
    return Update(
        message=said.blocks,
        message_id=said.message_id,
        metadata=said.metadata or None,
        extensions=said.extensions,
        reference_task_ids=said.reference_task_ids,
        progress=said.progress,
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
