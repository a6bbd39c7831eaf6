"""The input of a program: text on its stdin, variables that describe its task, and a file with the conversation."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import msgspec

from a2a_hub_client.worker.leased_task import LeasedTask

TASK_BYTES = 100_000  # Linux starts no program with an environment variable beyond 128 KiB


def first_message(leased: LeasedTask) -> Mapping[str, Any]:
    """Return the message that made the task, for a task without a later message of its sender."""
    text = {"role": "user", "content": [{"type": "text", "text": leased.task["intent_text"]}]}
    return text if leased.message is None else leased.message


def text_of(leased: LeasedTask, conversation: Sequence[Mapping[str, Any]]) -> str:
    """Return the task's text and the texts of the sender's later messages, each on lines of its own."""
    later = [content_text(message["content"]) for message in conversation[1:] if message["role"] == "user"]
    return "\n".join([leased.task["intent_text"], *later])


def content_text(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the text blocks joined by newlines; other blocks are left out."""
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")


class ConversationFile:
    """A temporary file of messages, each as a line of JSON. It may grow while the program reads it."""

    def __init__(self, file: IO[bytes], path: str) -> None:
        self.path = path
        self._file = file

    def add(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._file.write(b"".join(msgspec.json.encode(message) + b"\n" for message in messages))
        self._file.flush()


@contextlib.contextmanager
def conversation_file(conversation: Sequence[Mapping[str, Any]]) -> Iterator[ConversationFile]:
    """Yield a file of these messages, which is deleted when the block ends."""
    with tempfile.NamedTemporaryFile(prefix="a2a-conversation-", suffix=".jsonl") as file:
        made = ConversationFile(file, file.name)
        made.add(conversation)
        yield made


def environment_of(leased: LeasedTask, *, conversation: str, token: str | None) -> dict[str, bytes]:
    """Return the variables that describe the task to its program, in UTF-8.

    ``conversation`` is the path of the file of messages. ``token`` begins control lines; None: there are none.
    """
    control = {} if token is None else {"A2A_CONTROL": token.encode()}
    return {
        "A2A_TASK": _spelled(leased.task),
        "A2A_TASK_ID": leased.id.encode(),
        "A2A_LEASE_ID": leased.lease_id.encode(),
        "A2A_ATTEMPT": b"%d" % leased.attempt,
        "A2A_TURN": b"%d" % leased.turn,
        "A2A_CONVERSATION": conversation.encode(),
        **control,
    }


def _spelled(task: Mapping[str, Any]) -> bytes:
    """Return the task as JSON of at most `TASK_BYTES`. The key ``left_out`` lists the fields that are left out.

    These are the text if that is enough, else the longest fields. The id always stays.
    """
    if len(spelled := msgspec.json.encode(task)) <= TASK_BYTES:
        return spelled
    by_length = sorted(task.keys() - {"id"}, key=lambda name: len(msgspec.json.encode(task[name])), reverse=True)
    for left_out in (["intent_text"], *(by_length[:number] for number in range(1, len(by_length) + 1))):
        kept = {name: value for name, value in task.items() if name not in left_out}
        spelled = msgspec.json.encode({**kept, "left_out": left_out})
        if len(spelled) <= TASK_BYTES:
            break
    return spelled
