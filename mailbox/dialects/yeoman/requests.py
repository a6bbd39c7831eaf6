"""The messages and tasks of YEOMAN's peers, as lax as real peers need it. Problems have FastAPI's shape.

Source: Agnostic ADR-019, "A2AMessage"; ADR-017, TaskSubmitRequest; SecureYeoman, peers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from mailbox.dialects.yeoman import wire
from mailbox.words import json_text, times
from mailbox.words.errors import InvalidRequestError, MailboxError

DEFAULT_TITLE = "A2A QA Task"
MOST_IN_BATCH = 100
INTENT_KEYS = ("task", "description")
WORK_TIMEOUT = "work_timeout_ms"
# Values that may be secrets. No answer repeats them, because the sender may print it.
WITHHELD = ("payload", "callback_url", "callback_secret")

Shape = TypeVar("Shape", bound=BaseModel)
Problem = Mapping[str, Any]


class UnprocessableError(MailboxError):
    """The body does not have the shape this route reads."""

    code = "unprocessable"

    def __init__(self, problems: Sequence[Problem]) -> None:
        """``problems`` are FastAPI's: type, loc, msg, input."""
        self.problems = list(problems)
        super().__init__()


class Envelope(BaseModel):
    """A message between peers. Unknown keys are ignored. A null ``payload`` means an empty one."""

    model_config = ConfigDict(extra="ignore")

    id: str
    type: str
    fromPeerId: str  # noqa: N815 the wire's spelling
    toPeerId: str  # noqa: N815
    payload: dict[str, Any] | None = {}
    timestamp: int

    @property
    def content(self) -> dict[str, Any]:
        return self.payload or {}


class TaskSubmit(BaseModel):
    """A task to submit. Further keys are kept with the task."""

    model_config = ConfigDict(extra="allow")

    title: str
    description: str
    target_url: str | None = None
    priority: str = "high"
    standards: list[str] = []
    agents: list[str] = []
    business_goals: str = "Ensure quality and functionality"
    constraints: str = "Standard testing environment"
    callback_url: str | None = None
    callback_secret: str | None = None


class WorkflowTask(BaseModel):
    """A task sent by a step of a workflow."""

    model_config = ConfigDict(extra="allow")

    task: str
    context: Any = None

    @field_validator("task")
    @classmethod
    def says_something(cls, task: str) -> str:
        if not task.strip():
            raise PydanticCustomError("string_too_short", "String should not be blank")
        return task


class LocalPeer(BaseModel):
    """A node that registers with its parent."""

    model_config = ConfigDict(extra="ignore")

    url: str
    name: str
    capabilities: dict[str, Any] | list[Any] = {}
    mode: str = ""

    @field_validator("url")
    @classmethod
    def is_web_address(cls, url: str) -> str:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("must be an http or https URL")
        return url


class Slice(BaseModel):
    limit: int = Field(50, ge=1, le=100)
    offset: int = Field(0, ge=0, le=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedWork:
    """A task from this dialect's senders, from any of their shapes."""

    intent: str
    metadata: Mapping[str, Any]
    work_timeout: timedelta | None = None
    callback_url: str | None = None
    callback_secret: str | None = field(default=None, repr=False)


def parse(shape: type[Shape], value: object, *, place: str = "body") -> Shape:
    """Return ``value`` as ``shape``; raise `UnprocessableError` as FastAPI does."""
    try:
        return shape.model_validate(value, from_attributes=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        raise UnprocessableError([_reported(each, place) for each in problems]) from error


def delegated(content: Mapping[str, Any], *path: str | int) -> SubmittedWork:
    """Return the task in a delegate's payload.

    Its text is the first of ``task``, ``description`` and ``title`` that has words. `WORK_TIMEOUT` is a key of the
    hub's own. Raises `UnprocessableError`, which names each value under ``path`` that is of a wrong type or range.
    """
    problems = list(_text_problems(content, ("task", "description", "title", "callback_url", "callback_secret"), path))
    problems += _timeout_problems(content.get(WORK_TIMEOUT), (*path, WORK_TIMEOUT))
    if problems:
        raise UnprocessableError(problems)
    named = next((key for key in INTENT_KEYS if (content.get(key) or "").strip()), None)
    title = (content.get("title") or "").strip() or DEFAULT_TITLE
    return SubmittedWork(
        intent=content[named] if named else title,
        metadata={key: value for key, value in content.items() if key not in (named, WORK_TIMEOUT, *WITHHELD)},
        work_timeout=times.from_ms(content.get(WORK_TIMEOUT)),
        callback_url=content.get("callback_url") or None,
        callback_secret=content.get("callback_secret") or None,
    )


def submitted(body: TaskSubmit) -> SubmittedWork:
    """Return the task of a TaskSubmitRequest; raise `UnprocessableError` if title and description are blank."""
    if not (body.title.strip() or body.description.strip()):
        raise UnprocessableError([problem("string_too_short", ("body", "description"), "String should not be blank")])
    return delegated(body.model_dump(), "body")


def batch(content: Mapping[str, Any], key: str, kind: type) -> list[Any] | None:
    """Return the list ``key`` of a batch message's payload, None without a list.

    Raises `UnprocessableError` for more than `MOST_IN_BATCH` members, and for members that are not ``kind``.
    """
    items = content.get(key)
    if not isinstance(items, list):
        return None
    if len(items) > MOST_IN_BATCH:
        text = f"List should have at most {MOST_IN_BATCH} items"
        raise UnprocessableError([problem("too_long", ("body", "payload", key), text)])
    name = "dictionary" if kind is dict else "string"
    wrong = [
        problem(f"{kind.__name__}_type", ("body", "payload", key, number), f"Input should be a valid {name}")
        for number, item in enumerate(items)
        if not isinstance(item, kind)
    ]
    if wrong:
        raise UnprocessableError(wrong)
    return items


def check_result(content: Mapping[str, Any]) -> None:
    """Raise `UnprocessableError` if the payload of an ``a2a:result`` does not say how the task ended.

    Its ``status`` is one of `wire.RESULT_WORDS`, and null or empty counts as absent. The ``status`` of an object under
    ``result`` may be the peer's own word, so only `wire.UNFINISHED` is refused there.
    """
    path = ("body", "payload")
    word, result = content.get("status"), content.get("result")
    if word not in (None, "") and not (isinstance(word, str) and word in wire.RESULT_WORDS):
        *others, last = map(repr, wire.RESULT_WORDS)
        text = f"Input should be {', '.join(others)} or {last}"
        raise UnprocessableError([problem("enum", (*path, "status"), text)])
    if not word and isinstance(result, Mapping) and result.get("status") in wire.UNFINISHED:
        text = f"Input should not be {' or '.join(map(repr, wire.UNFINISHED))}"
        raise UnprocessableError([problem("value_error", (*path, "result", "status"), text)])


@contextmanager
def placed(*path: str | int) -> Iterator[None]:
    """Raise the problems of a task in FastAPI's shape, under ``path``."""
    try:
        yield
    except InvalidRequestError as error:
        problems = [problem("value_error", (*path, name), text) for name, text in error.fields.items()]
        raise UnprocessableError(problems) from error


def problem(kind: str, loc: tuple[str | int, ...], text: str, sent: object = None) -> Problem:
    return {"type": kind, "loc": list(loc), "msg": text, "input": sent}


def _text_problems(content: Mapping[str, Any], keys: tuple[str, ...], path: tuple[str | int, ...]) -> Iterator[Problem]:
    for key in keys:
        if not isinstance(content.get(key), str | None):
            yield problem("string_type", (*path, key), "Input should be a valid string")


def _timeout_problems(value: object, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if value is None:
        return
    if type(value) is not int:
        yield problem("int_type", path, "Input should be a valid integer")
    elif not 1 <= value <= times.LONGEST_MS:
        yield problem("value_error", path, f"Input should be between 1 and {times.LONGEST_MS}")


def _reported(error: Mapping[str, Any], place: str) -> Problem:
    loc, sent = error["loc"], error["input"]
    shown = None if any(name in loc for name in WITHHELD) else _shown(sent)
    return problem(error["type"], (place, *loc), error["msg"], shown if json_text.problem_in(shown) is None else None)


def _shown(value: object) -> object:
    """Return a value without its withheld keys, at any depth."""
    if isinstance(value, dict):
        return {key: _shown(part) for key, part in value.items() if key not in WITHHELD}
    return [_shown(part) for part in value] if isinstance(value, list) else value
