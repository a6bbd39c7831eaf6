"""The types of fields in requests of A2A 1.0, read as ProtoJSON and as query strings: "5" is a number, "true" is true.

Source: Protocol Buffers, "ProtoJSON Format"; A2A 1.0, "HTTP+JSON binding".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic.alias_generators import to_camel

from mailbox.words import json_text, times
from mailbox.words.a2a import parts
from mailbox.words.conversation import ID_MAX_LENGTH
from mailbox.words.envelopes import KEY_MAX_LENGTH
from mailbox.words.errors import InvalidRequestError
from mailbox.words.push import URL_MAX_LENGTH

MAX_INT32, MAX_INT64 = 2**31 - 1, 2**63 - 1
ROLES = ("ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT")
# In the order of their numbers.
STATES = (
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
)
WORK_TIMEOUT = "urn:a2a-hub:work-timeout-ms"  # a key of a request's metadata, of the hub's own
CONFIG_ID_MAX_LENGTH = 200
HEADER_MAX_LENGTH = 4096  # of a token or credentials that go into a header
_NUMBER = "must be a whole number"
_DIGITS = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_VISIBLE = re.compile(r"[\x20-\x7e]+")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Params(BaseModel):
    """The parameters of an operation, or a part of them.

    Keys are accepted in camelCase and in snake_case, unknown keys are ignored. Null and "" mean that a key is absent,
    unless it is one of ``with_presence``. Problems name keys in camelCase.
    """

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)
    with_presence: ClassVar[frozenset[str]] = frozenset()
    _alias_of: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls._alias_of = {name: field.alias or name for name, field in cls.model_fields.items()}

    @model_validator(mode="before")
    @classmethod
    def _without_absent(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        found = {cls._alias_of.get(key, key): value for key, value in given.items() if _is_present(value)}
        return found | {key: given[key] for key in cls.with_presence if key in given}


def _is_present(value: object) -> bool:
    return value is not None and value != ""


def _storable(text: str) -> str:
    if problem := json_text.problem_with(text):
        raise ValueError(problem)
    return text


def _integer(value: object) -> int:
    is_text_of_one = isinstance(value, str) and _DIGITS.fullmatch(value)
    is_whole = isinstance(value, float) and value.is_integer()
    if type(value) is int or is_text_of_one or is_whole:
        return int(value)  # type: ignore[call-overload,no-any-return]
    raise ValueError(_NUMBER)


def _natural(value: object) -> int:
    if (number := _integer(value)) < 0:
        raise ValueError(_NUMBER)
    return number


def _boolean(value: object) -> object:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _named(names: tuple[str, ...]) -> Callable[[object], object]:
    """Return the reader of an enum value by its name or number."""

    def name_of(value: object) -> object:
        if value in names:
            return value
        try:
            return names[_natural(value)]
        except (ValueError, IndexError) as error:
            raise ValueError(f"must be one of {', '.join(names[1:])}") from error

    return name_of


def _specified(role: str) -> str:
    if role == ROLES[0]:
        raise ValueError("is required")
    return role


def _filter(state: str) -> str | None:
    return None if state == STATES[0] else state


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _moment(value: object) -> datetime:
    found = value.upper() if isinstance(value, str) else ""
    try:
        if _TIMESTAMP.fullmatch(found):
            return datetime.fromisoformat(found).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be a time with an offset, such as 2026-01-31T12:00:00Z")


def _for_header(text: str) -> str:
    if not _VISIBLE.fullmatch(text):
        raise ValueError("must be visible ASCII characters")
    return text


def generation(value: object, path: str) -> int | None:
    """Return the generation that a request names at ``path``; None without one. Raises `InvalidRequestError`."""
    if value is None:
        return None
    try:
        number = _integer(value)
    except ValueError as error:
        raise InvalidRequestError({path: str(error)}) from error
    if not 0 <= number <= MAX_INT64:
        raise InvalidRequestError({path: f"must be between 0 and {MAX_INT64}"})
    return number


def work_timeout(metadata: Mapping[str, Any]) -> timedelta | None:
    """Return the work timeout that the metadata of a request name; None without one. Raises `InvalidRequestError`."""
    if (value := metadata.get(WORK_TIMEOUT)) is None:
        return None
    try:
        if 1 <= (milliseconds := _integer(value)) <= times.LONGEST_MS:
            return times.from_ms(milliseconds)
        problem = f"must be between 1 and {times.LONGEST_MS} milliseconds"
    except ValueError as error:
        problem = str(error)
    raise InvalidRequestError({f"metadata.{WORK_TIMEOUT}": problem})


Text = Annotated[str, Strict(), AfterValidator(_storable)]
Id = Annotated[str, Strict(), Field(max_length=ID_MAX_LENGTH), AfterValidator(_storable)]
ConfigId = Annotated[str, Strict(), Field(max_length=CONFIG_ID_MAX_LENGTH), AfterValidator(_storable)]
ContextId = Annotated[
    str, Strict(), Field(max_length=KEY_MAX_LENGTH), AfterValidator(_storable), AfterValidator(_not_blank)
]
WebAddress = Annotated[str, Strict(), Field(max_length=URL_MAX_LENGTH), AfterValidator(_storable)]
HeaderText = Annotated[str, Strict(), Field(max_length=HEADER_MAX_LENGTH), AfterValidator(_for_header)]
Base64 = Annotated[str, Strict(), AfterValidator(parts.standard_base64)]
Count = Annotated[int, BeforeValidator(_integer), Field(ge=0, le=MAX_INT32)]
Flag = Annotated[bool, BeforeValidator(_boolean), Strict()]
Role = Annotated[str, BeforeValidator(_named(ROLES)), AfterValidator(_specified)]
StateFilter = Annotated[str | None, BeforeValidator(_named(STATES)), AfterValidator(_filter)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
