"""Webhooks of tasks, and rounds of the courier, run in the thread of the test."""

import json
from collections.abc import Mapping
from typing import Any

from mailbox.access.callers import Caller
from mailbox.life import push_configs
from mailbox.models import Lease, PushConfig, Task
from mailbox.words.push import PushTarget
from tests.support import factories
from tests.support.callback_rounds import deliver_due
from tests.support.receiver import Receiver


def sent(sender: Caller, recipient: Caller, /, **fields: Any) -> Task:
    """Send a task as the official protocol does."""
    return factories.sent_task(sender, recipient, dialect="a2a", reads_result=True, context_id="talk", **fields)


def leased(sender: Caller, recipient: Caller, /, **fields: Any) -> Lease:
    """Send a task as the official protocol does, and lease it."""
    return factories.leased_task(sender, recipient, dialect="a2a", reads_result=True, context_id="talk", **fields)


def webhook(sender: Caller, task: Task, url: str, /, **fields: Any) -> PushConfig:
    """Set a webhook for the task of the sender."""
    return push_configs.set_config(sender, task.uuid, PushTarget(url=url, **fields), recipient=task.recipient)


def tell_all() -> int:
    """Make rounds until no webhook is due; return the number of attempts."""
    attempts = 0
    while begun := deliver_due():
        attempts += begun
    return attempts


def bodies(receiver: Receiver) -> list[Any]:
    return [json.loads(body) for _, body in receiver.calls]


def words_of(body: Mapping[str, Any]) -> str:
    """Return the state or the artifact of an event, with its text."""
    if "artifactUpdate" in body:
        artifact = body["artifactUpdate"]["artifact"]
        return f"{artifact['artifactId']}: {''.join(part['text'] for part in artifact['parts'])}"
    status = body["statusUpdate"]["status"]
    said = "".join(part["text"] for part in status.get("message", {}).get("parts", ()))
    return f"{status['state'].removeprefix('TASK_STATE_')}{said and f': {said}'}"


def told(receiver: Receiver) -> list[str]:
    """Return the events that the receiver got, in their order."""
    return [words_of(body) for body in bodies(receiver)]
