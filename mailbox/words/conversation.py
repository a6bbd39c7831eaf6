"""Messages, updates and artifacts as they come in, before they are rows: plain, frozen values, and their checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mailbox.words import content, json_text, shapes
from mailbox.words.errors import InvalidRequestError

PROGRESS = "progress"  # the type of the block that stores progress; no content block has it
ID_MAX_LENGTH = 500
AGENT = "agent"  # the stored role of a message whose sender gave itself the role of an agent
RESULT = "result"  # the id of an artifact that its holder did not name


class UpdateStatus(StrEnum):
    """A status that a holder posts. The last two interrupt the task."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    AUTH_REQUIRED = "auth_required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The parts of a message beside its blocks. ``message_id`` is its author's own, "" without one."""

    message_id: str = ""
    metadata: Mapping[str, Any] | None = None
    extensions: Sequence[str] = ()
    reference_task_ids: Sequence[str] = ()

    @property
    def extra(self) -> str:
        """Return what `Message.extra` stores."""
        return _stored(metadata=self.metadata, extensions=self.extensions, reference_task_ids=self.reference_task_ids)

    def problems_of_details(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield (path, problem) for each problem; each path begins with ``prefix``."""
        yield from _problems_of_id(self.message_id, f"{prefix}message_id")
        yield from _problems_of_extra(self.metadata, self.extensions, prefix)
        yield from _problems_of_texts(self.reference_task_ids, f"{prefix}reference_task_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Details):
    """A message of a task's sender. ``content`` is not empty.

    ``as_agent``: the sender gave itself the role of an agent, which readers in A2A see.
    """

    content: Sequence[Mapping[str, Any]]
    as_agent: bool = False

    def check(self) -> None:
        """Raise `InvalidRequestError` for fields of wrong types, else for invalid values. It lists all such fields."""
        problems = dict(shapes.shape_problems(self))
        if not problems:
            problems = dict(self._problems())
        if problems:
            raise InvalidRequestError(problems)

    @property
    def extra(self) -> str:
        """Return what `Message.extra` stores."""
        return _stored(
            metadata=self.metadata,
            extensions=self.extensions,
            reference_task_ids=self.reference_task_ids,
            role=AGENT if self.as_agent else None,
        )

    def _problems(self) -> Iterator[tuple[str, str]]:
        if not self.content:
            yield "content", "must have at least one block"
        yield from content.problems(self.content)
        yield from self.problems_of_details("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Details):
    """A status update: content blocks, progress from 0 to 1 with a note, or both; or a status, perhaps with blocks.

    A status `UpdateStatus.AUTH_REQUIRED` needs blocks. A status `UpdateStatus.WORKING` has none, and records nothing.
    """

    message: Sequence[Mapping[str, Any]] = ()
    progress: float | None = None
    note: str = ""
    status: UpdateStatus | None = None

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The update as `Message.content` stores it: content blocks, and last the progress."""
        blocks = [dict(block) for block in self.message]
        if self.progress is not None:
            blocks.append({"type": PROGRESS, "value": self.progress, "note": self.note})
        return blocks

    @property
    def asks(self) -> bool:
        """Whether the update interrupts the task."""
        return self.status in (UpdateStatus.INPUT_REQUIRED, UpdateStatus.AUTH_REQUIRED)

    def problems(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield (path, problem) for each problem of the update; ``path`` is its own."""
        yield from ((f"{path}.message.{where}", problem) for where, problem in content.problems(self.message))
        yield from self._problems_of_combination(path)
        if self.progress is not None and not 0 <= self.progress <= 1:
            yield f"{path}.progress", "must be between 0 and 1"
        if problem := json_text.problem_with(self.note):
            yield f"{path}.note", problem
        yield from self.problems_of_details(f"{path}.")

    def _problems_of_combination(self, path: str) -> Iterator[tuple[str, str]]:
        if not self.message and self.progress is None and self.status is None:
            yield path, "must have a message, progress, an artifact or a status"
        if self.status is not None and self.progress is not None:
            yield path, "must have either progress or a status"
        if self.status == UpdateStatus.WORKING and self.message:
            yield f"{path}.message", 'has no place beside the status "working"; send the message alone'
        if self.status == UpdateStatus.AUTH_REQUIRED and not self.message:
            yield f"{path}.message", 'the status "auth_required" needs a message'


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactUpdate:
    """An artifact, or a chunk of an artifact. ``last_chunk``: the artifact is complete with these blocks.

    ``append`` adds the blocks to the artifact of this id, and replaces its name, description, metadata and extensions
    where they are given. Without ``append`` the artifact is placed, or replaced.
    """

    content: Sequence[Mapping[str, Any]]
    artifact_id: str = RESULT
    name: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] | None = None
    extensions: Sequence[str] = ()
    append: bool = False
    last_chunk: bool = False

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return [dict(block) for block in self.content]

    @property
    def extra(self) -> str:
        """Return what `Artifact.extra` stores."""
        return _stored(name=self.name, description=self.description, metadata=self.metadata, extensions=self.extensions)

    def problems(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield (path, problem) for each problem of the artifact; ``path`` is that of the update."""
        path = f"{path}.artifact"
        if not self.content:
            yield f"{path}.content", "must have at least one block"
        yield from ((f"{path}.{where}", problem) for where, problem in content.problems(self.content))
        if not self.artifact_id.strip():
            yield f"{path}.artifact_id", "must not be empty when present"
        yield from _problems_of_id(self.artifact_id, f"{path}.artifact_id")
        for name, text in (("name", self.name), ("description", self.description)):
            if problem := json_text.problem_with(text or ""):
                yield f"{path}.{name}", problem
        yield from _problems_of_extra(self.metadata, self.extensions, f"{path}.")


def check_updates(updates: Sequence[Update | ArtifactUpdate], most: int) -> None:
    """Raise `InvalidRequestError` unless these are 1 to ``most`` valid updates, of which only the last interrupts."""
    problems: dict[str, str] = {}
    for number, update in enumerate(updates):
        path = f"updates.{number}"
        problems |= dict(update.problems(path))
        if isinstance(update, Update) and update.asks and number < len(updates) - 1:
            problems[f"{path}.status"] = "must be the last update of its call"
    if not 1 <= len(updates) <= most:
        problems["updates"] = f"must be 1 to {most} updates"
    if problems:
        raise InvalidRequestError(problems)


def _problems_of_id(text: str, path: str) -> Iterator[tuple[str, str]]:
    if problem := json_text.problem_with(text):
        yield path, problem
    if len(text) > ID_MAX_LENGTH:
        yield path, f"longer than {ID_MAX_LENGTH} characters"


def _problems_of_extra(
    metadata: Mapping[str, Any] | None, extensions: Sequence[str], prefix: str
) -> Iterator[tuple[str, str]]:
    if metadata is not None and (problem := json_text.problem_in(dict(metadata), level=2)):
        yield f"{prefix}metadata", problem
    yield from _problems_of_texts(extensions, f"{prefix}extensions")


def _problems_of_texts(texts: Sequence[object], path: str) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        problem = json_text.problem_with(text) if isinstance(text, str) else "must be text"
        if problem:
            yield f"{path}.{number}", problem


def _stored(**values: object) -> str:
    """Return the JSON text of an object with the values that were given."""
    kept = {name: _plain(value) for name, value in values.items() if value is not None and value != ()}
    return json_text.dumps(kept)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
