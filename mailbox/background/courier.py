"""The courier: reports each event of a task to its webhooks, in order, in the words of the official protocol.

Source: A2A, push notifications.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from django.db import InterfaceError, OperationalError

from mailbox.background.callback_sender import LONGEST_PAUSE, LOOK_AROUND_EVERY, CallbackSender, posted
from mailbox.database.bell import topics
from mailbox.inspection.event_log import EventLog, EventLogCache
from mailbox.life import webhooks
from mailbox.life.callbacks import CallbackOutcome, DeliverySlots
from mailbox.life.webhooks import Candidate, Telling
from mailbox.models import PushConfig, PushDelivery, Task
from mailbox.words import json_text, secret_box
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.fold import EventKind, EventPosition, TaskEvent, TaskSnapshot

TOKEN = "X-A2A-Notification-Token"  # noqa: S105 (the name of a header)
MEDIA: Mapping[str, str] = {
    PushConfig.Protocol.V1_0: "application/a2a+json",
    PushConfig.Protocol.V0_3: "application/json",
}
MOST_CHUNKS = 100  # of one artifact, in one update

_logger = logging.getLogger(__name__)
_Planned = tuple[Candidate, Telling | None]


class Courier(CallbackSender):
    """Tells webhooks. Any number of processes can run a courier. It works as the sender of callbacks does."""

    things = "webhooks"

    def __init__(self) -> None:
        super().__init__()
        self._event_logs = EventLogCache()

    def topics(self) -> Sequence[str]:
        return [topics.CALLBACKS, *map(topics.task, webhooks.listened_to())]

    def pause_until_due(self) -> float:
        return webhooks.pause_until_due(shortest=LOOK_AROUND_EVERY, longest=LONGEST_PAUSE)

    def claim(self, limit: int, slots: DeliverySlots) -> Sequence[PushDelivery]:
        planned: list[_Planned] = []
        for candidate in webhooks.due(limit=limit, slots=slots):
            try:
                planned += _planned(candidate, self._event_logs)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                _logger.exception("an event for webhook %s could not be rendered", candidate.config.pk)
                webhooks.put_off(candidate)
        return webhooks.claim(planned)

    def attempt(self, delivery: PushDelivery) -> CallbackOutcome:
        return attempt(delivery)

    def store(self, delivery: PushDelivery, outcome: CallbackOutcome) -> None:
        webhooks.report(delivery, outcome)


def attempt(delivery: PushDelivery) -> CallbackOutcome:
    """Tell one event, which was claimed with its webhook, and return the outcome. Reads and writes no row."""
    return posted(delivery, lambda _: headers(delivery))


def headers(delivery: PushDelivery) -> dict[str, str]:
    """Return the headers of one attempt. Raises `UnreadableSecretError`."""
    config = delivery.config
    if config is None:
        raise ValueError("a claimed event has its webhook")
    values = {
        "Content-Type": MEDIA[config.protocol],
        "User-Agent": "A2A-Hub/webhooks",
        "Accept-Encoding": "identity",
        "webhook-id": str(delivery.delivery_id),
    }
    if config.sealed_token is not None:
        values[TOKEN] = secret_box.unseal(config.sealed_token)
    if config.auth_scheme is not None and config.sealed_credentials is not None:
        values["Authorization"] = f"{config.auth_scheme} {secret_box.unseal(config.sealed_credentials)}"
    return values


def _planned(candidate: Candidate, event_logs: EventLogCache) -> list[_Planned]:
    """Return the next report to the webhook, as the only element; none if its task has no event for it."""
    config, begun = candidate.config, candidate.begun
    if begun is not None and config.protocol == PushConfig.Protocol.V1_0:
        return [(candidate, None)]
    log = event_logs.of(config.task)
    if begun is not None:
        position = (begun.seq or 0, begun.part or PushConfig.WHOLE_ROW)
        return [(candidate, Telling(position=position, body=_whole_task(log.view()[0])))]
    left = list(islice(_unreported(config, log), MOST_CHUNKS))
    if not left:
        webhooks.pass_over(candidate, log.seq)
        return []
    if config.protocol == PushConfig.Protocol.V0_3:
        return [(candidate, Telling(position=left[0].position, body=_whole_task(log.view()[0])))]
    event = joined(left)
    return [(candidate, Telling(position=event.position, body=_change(config.task, event)))]


def _unreported(config: PushConfig, log: EventLog) -> Iterator[TaskEvent]:
    """Yield the events for the receiver that come after its position, in order."""
    for index in range(log.index_after(EventPosition(*config.position)), len(log.events)):
        if _concerns(config, log.events[index]):
            yield log.events[index]


def _concerns(config: PushConfig, event: TaskEvent) -> bool:
    """Whether the receiver gets the event. The task itself is no news to its sender."""
    if config.protocol == PushConfig.Protocol.V0_3:
        return event.kind == EventKind.STATUS
    return event.kind != EventKind.TASK


def joined(events: Sequence[TaskEvent]) -> TaskEvent:
    """Return the first event. If chunks of the same artifact follow it, they are one event with it."""
    whole = events[0]
    for event in events[1:]:
        before, chunk = whole.produced, event.produced
        if before is None or chunk is None or not chunk.append or chunk.artifact_id != before.artifact_id:
            break
        blocks, extra = [*before.blocks, *chunk.blocks], {**before.extra, **chunk.extra}
        both = replace(before, blocks=blocks, extra=extra, last_chunk=chunk.last_chunk)
        whole = replace(event, produced=both)
    return whole


def _change(task: Task, event: TaskEvent) -> str:
    return json_text.dumps(v1_0.stream_response(task.uuid, task.context_id, event))


def _whole_task(seen: TaskSnapshot) -> str:
    return json_text.dumps(v0_3.task_out(v1_0.task(seen)))
