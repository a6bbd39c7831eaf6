"""The answers to an official client, in a form in which versions 1.0 and 0.3 can be compared.

States are lower case without a prefix: ``input_required``. Roles are ``user`` and ``agent``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
ENDS = ("completed", "failed", "canceled", "rejected")


@dataclass(frozen=True, slots=True)
class Words:
    """A message. ``text`` joins its texts."""

    role: str
    text: str
    parts: Sequence[Json]
    raw: Json


@dataclass(frozen=True, slots=True)
class Work:
    """A task. ``artifacts`` has the text of each artifact by its id."""

    id: str
    context: str
    state: str
    words: Words | None
    history: Sequence[Words]
    artifacts: dict[str, str]
    raw: Json

    @property
    def text(self) -> str:
        """The text of the status message, "" without one."""
        return self.words.text if self.words else ""

    @property
    def talk(self) -> list[tuple[str, str]]:
        """The messages of the history and of the status, each as its role and text."""
        every = [*self.history, *([self.words] if self.words else [])]
        return [(words.role, words.text) for words in every]


@dataclass(frozen=True, slots=True)
class Status:
    task: str
    context: str
    state: str
    words: Words | None

    @property
    def text(self) -> str:
        return self.words.text if self.words else ""


@dataclass(frozen=True, slots=True)
class Piece:
    """An artifact, or a chunk of it."""

    task: str
    artifact: str
    text: str
    append: bool
    last: bool
    raw: Json


Event = Work | Words | Status | Piece


def words(raw: Json) -> Words:
    role = str(raw["role"]).removeprefix("ROLE_").lower()
    return Words(role=role, text=text_of(raw["parts"]), parts=raw["parts"], raw=raw)


def work(raw: Json) -> Work:
    status = raw["status"]
    return Work(
        id=raw["id"],
        context=raw["contextId"],
        state=state(status["state"]),
        words=words(status["message"]) if status.get("message") else None,
        history=[words(each) for each in raw.get("history") or []],
        artifacts={each["artifactId"]: text_of(each["parts"]) for each in raw.get("artifacts") or []},
        raw=raw,
    )


def answer(raw: Json) -> Work | Words:
    """Read the answer to a message, of either version."""
    if "kind" in raw:
        return work(raw) if raw["kind"] == "task" else words(raw)
    return work(raw["task"]) if raw.get("task") else words(raw["message"])


def event(raw: Json) -> Event:
    """Read an event of a stream, of either version."""
    if "kind" in raw:
        kind = str(raw["kind"])
    else:
        ((kind, raw),) = [(name, body) for name, body in raw.items() if body]
    return READERS[kind](raw)


def text_of(parts: Sequence[Json]) -> str:
    return "".join(part.get("text") or "" for part in parts)


def state(name: str) -> str:
    return name.removeprefix("TASK_STATE_").lower().replace("-", "_")


def _status(raw: Json) -> Status:
    status = raw["status"]
    said = words(status["message"]) if status.get("message") else None
    return Status(task=raw["taskId"], context=raw["contextId"], state=state(status["state"]), words=said)


def _piece(raw: Json) -> Piece:
    made = raw["artifact"]
    return Piece(
        task=raw["taskId"],
        artifact=made["artifactId"],
        text=text_of(made["parts"]),
        append=bool(raw.get("append")),
        last=bool(raw.get("lastChunk")),
        raw=made,
    )


# By the names of events in 1.0, then by those that are other words in 0.3.
READERS: dict[str, Callable[[Json], Event]] = {
    "task": work,
    "message": words,
    "statusUpdate": _status,
    "artifactUpdate": _piece,
    "status-update": _status,
    "artifact-update": _piece,
}
