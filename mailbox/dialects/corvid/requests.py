"""The body of ``tasks/send``, checked in corvid-agent's order and refused in its words.

Source: corvid-agent, ``POST /a2a/tasks/send``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mailbox.words.errors import MailboxError

MIN_TIMEOUT_MS, MAX_TIMEOUT_MS = 1_000, 600_000
DEFAULT_TIMEOUT_MS = 300_000
MAX_DEPTH_VALUE = 10
MAX_SKILL_LENGTH = 200  # characters, as of a tool's name
NOWHERE = "message is required (either at top-level or inside params)"


class ValidationFailedError(MailboxError):
    """The body does not fit ``tasks/send``."""

    code = "validation_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSend:
    """A request of ``tasks/send``. ``depth`` counts the agents that have passed the request on, from 1."""

    message: str
    skill: str | None
    timeout_ms: int
    depth: int


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    text: str
    is_type: bool = False  # a wrong type: no problem of the body as a whole is reported beside it

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


def parse(body: object) -> TaskSend:
    """Read a body of either form, with ``params`` or with its keys at the top level. Raise `ValidationFailedError`.

    If there are ``params``, only ``depth`` is also read at the top level.
    """
    problems = list(_problems(body))
    if not isinstance(body, dict) or problems:
        raise ValidationFailedError("Validation failed: " + "; ".join(map(str, problems)))
    given = body.get("params", body)
    depth = given.get("depth", body.get("depth", 1))
    return TaskSend(
        message=given["message"],
        skill=given.get("skill"),
        timeout_ms=int(given.get("timeoutMs", DEFAULT_TIMEOUT_MS)),
        depth=int(depth),
    )


def _problems(body: object) -> Iterator[Problem]:
    if not isinstance(body, dict):
        yield Problem("", f"Invalid input: expected object, received {_type(body)}")
        return
    problems = list(_field_problems(body))
    yield from problems
    if any(problem.is_type for problem in problems):
        return
    given = body.get("params", body)
    if not str(given.get("message", "")).strip():
        yield Problem("", NOWHERE)


def _field_problems(body: dict[str, Any]) -> Iterator[Problem]:
    if "params" in body:
        params = body["params"]
        if not isinstance(params, dict):
            yield Problem("params", f"Invalid input: expected object, received {_type(params)}", is_type=True)
        else:
            yield from _message(params, "params.message", required=True)
            yield from _options(params, "params.")
    yield from _message(body, "message", required=False)
    yield from _options(body, "")
    yield from _text(body, "sourceAgent", "")


def _message(fields: dict[str, Any], path: str, *, required: bool) -> Iterator[Problem]:
    if "message" not in fields:
        if required:
            yield Problem(path, "Invalid input: expected string, received undefined", is_type=True)
        return
    message = fields["message"]
    if not isinstance(message, str):
        yield Problem(path, f"Invalid input: expected string, received {_type(message)}", is_type=True)
    elif not message:
        yield Problem(path, "message is required" if required else "Too small: expected string to have >=1 characters")


def _options(fields: dict[str, Any], prefix: str) -> Iterator[Problem]:
    yield from _text(fields, "skill", prefix, most=MAX_SKILL_LENGTH)
    yield from _integer(fields, "timeoutMs", prefix, MIN_TIMEOUT_MS, MAX_TIMEOUT_MS)
    yield from _integer(fields, "depth", prefix, 1, MAX_DEPTH_VALUE)


def _text(fields: dict[str, Any], name: str, prefix: str, *, most: int | None = None) -> Iterator[Problem]:
    if name not in fields:
        return
    value, path = fields[name], f"{prefix}{name}"
    if not isinstance(value, str):
        yield Problem(path, f"Invalid input: expected string, received {_type(value)}", is_type=True)
    elif most is not None and len(value) > most:
        yield Problem(path, f"Too big: expected string to have <={most} characters")


def _integer(fields: dict[str, Any], name: str, prefix: str, low: int, high: int) -> Iterator[Problem]:
    if name not in fields:
        return
    value, path = fields[name], f"{prefix}{name}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        yield Problem(path, f"Invalid input: expected number, received {_type(value)}", is_type=True)
    elif isinstance(value, float) and not value.is_integer():
        yield Problem(path, "Invalid input: expected int, received number", is_type=True)
    elif value < low:
        yield Problem(path, f"Too small: expected number to be >={low}")
    elif value > high:
        yield Problem(path, f"Too big: expected number to be <={high}")


def _type(value: object) -> str:
    """Name a JSON type as JavaScript's validators do."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "object"
