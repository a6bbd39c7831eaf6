"""One message to an agent elsewhere, and what it shows until it has ended or asks something.

Nothing of it is stored. Source: A2A 1.0, SendMessage, SendStreamingMessage, GetTask.
"""

import logging
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep

from agentcards.errors import RemoteRefusalError
from agentcards.official_client.bindings import RemoteOperation
from agentcards.official_client.client import CALL_WITHIN, IDEMPOTENCY_KEY, LOOK_WITHIN, ReachedAgent
from agentcards.official_client.reading import Json
from agentcards.official_client.shown import ShownMessage, ShownTask, answer_of
from mailbox.outbound.errors import ExternalServiceError, NoAnswerError

LOOK_EVERY = 1.0  # seconds

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The task, or the message, as the agent shows it after a change. ``event`` is the StreamResponse of the change."""

    event: Json
    shown: ShownTask | ShownMessage

    answered: str = ""  # the question that the message answered; an agent may still show it for a moment

    @property
    def waits_for_us(self) -> bool:
        """Whether the agent has ended its work, or waits for its caller."""
        if isinstance(self.shown, ShownMessage) or self.shown.state.is_terminal:
            return True
        return self.shown.question not in ("", self.answered)


def converse(
    agent: ReachedAgent, text: str, *, stream: bool, within: float, earlier: ShownTask | None = None
) -> Iterator[Heard]:
    """Send a text, and yield what the agent shows after each change, until it waits for its caller.

    With ``earlier`` the text answers the question of that task. ``stream``: by a stream, and where that ends early by
    polls. Ends after ``within`` seconds, with the agent at work. Raises `RemoteRefusalError` for an error of the agent.
    Raises another `ExternalServiceError` if the message got no usable answer; whether the agent has it is then unknown.
    Failed polls are repeated.
    """
    gives_up_at = monotonic() + within
    answered = "" if earlier is None else earlier.question
    heard: Heard | None = None
    for event, shown in _sent(agent, _message(text, earlier), stream=stream, within=within):
        yield (heard := Heard(event=event, shown=shown, answered=answered))
        if heard.waits_for_us:
            return
    if heard is None or isinstance(heard.shown, ShownMessage):
        raise ExternalServiceError("the agent ended its answer before it showed a task")
    yield from _polled(agent, heard.shown, answered, within=gives_up_at - monotonic())


def _polled(agent: ReachedAgent, last: ShownTask, answered: str, *, within: float) -> Iterator[Heard]:
    """Poll a task, and yield what the agent shows after each change. Ends after ``within`` seconds."""
    gives_up_at = monotonic() + within
    while (left := gives_up_at - monotonic()) > 0:
        try:
            task = agent.call(RemoteOperation.GET, {"id": last.task_id}, within=min(left, LOOK_WITHIN))
            shown = ShownTask.of(task)
        except RemoteRefusalError as refusal:
            if not refusal.is_busy and refusal.status < 500:
                raise
        except NoAnswerError as error:
            _logger.debug("polling a remote task failed: %s", error)
        else:
            if shown != last:
                last = shown
                yield (heard := Heard(event={"task": task}, shown=shown, answered=answered))
                if heard.waits_for_us:
                    return
        sleep(max(0.0, min(LOOK_EVERY, gives_up_at - monotonic())))


def _message(text: str, earlier: ShownTask | None) -> Json:
    """Return a message of one text; it goes on with the task of ``earlier``."""
    message: Json = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]}
    if earlier is not None:
        message |= {"taskId": earlier.task_id}
        message |= {"contextId": earlier.context_id} if earlier.context_id else {}
    return message


def _sent(
    agent: ReachedAgent, message: Json, *, stream: bool, within: float
) -> Iterator[tuple[Json, ShownTask | ShownMessage]]:
    params: Json = {"message": message, "configuration": {"returnImmediately": True}}
    more = {IDEMPOTENCY_KEY: message["messageId"]}
    if not stream:
        answer = agent.call(RemoteOperation.SEND, params, within=min(within, CALL_WITHIN), more=more)
        yield answer, answer_of(answer)
        return
    shown: ShownTask | ShownMessage | None = None
    try:
        with agent.stream(RemoteOperation.SEND_STREAMING, params, within=within, more=more) as events:
            for event in events:
                shown = shown.after(event) if isinstance(shown, ShownTask) else answer_of(event)
                yield event, shown
    except NoAnswerError as error:
        if shown is None:
            raise
        _logger.debug("the stream of a remote task ended early: %s", error)
