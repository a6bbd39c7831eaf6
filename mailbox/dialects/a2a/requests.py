"""The parameters of the eleven operations of A2A 1.0, and the types of their fields. Pure: no queries, no clock.

Fields are read as ProtoJSON and as query strings: "5" is a number, "true" is true. An id of a task is any text here: an
id of no task is answered as a task that is not there. Source: A2A 1.0, "Operations", "HTTP+JSON binding"; Protocol
Buffers, "ProtoJSON Format".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic.alias_generators import to_camel

from mailbox.words import json_text, times
from mailbox.words.a2a import parts
from mailbox.words.a2a.fold import Opening
from mailbox.words.a2a.parts import blocks_of, text_of_parts
from mailbox.words.conversation import ID_MAX_LENGTH, Words
from mailbox.words.envelopes import A2A, KEY_MAX_LENGTH, AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError
from mailbox.words.push import URL_MAX_LENGTH, PushTarget

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
Base64 = Annotated[str, Strict(), AfterValidator(parts.standard_base64)]
CONTENTS = ("text", "raw", "url", "data")
PAGE_SIZE, MAX_PAGE_SIZE = 50, 100


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
    def _without_absent(cls, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        present = {cls._alias_of.get(key, key): value for key, value in body.items() if value not in (None, "")}
        return present | {key: body[key] for key in cls.with_presence if key in body}


def _storable(text: str) -> str:
    if problem := json_text.problem_with(text):
        raise ValueError(problem)
    return text


def _integer(value: object) -> int:
    is_digits = isinstance(value, str) and _DIGITS.fullmatch(value)
    is_whole = isinstance(value, float) and value.is_integer()
    if type(value) is int or is_digits or is_whole:
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


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _moment(value: object) -> datetime:
    text = value.upper() if isinstance(value, str) else ""
    try:
        if _TIMESTAMP.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC)
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
Count = Annotated[int, BeforeValidator(_integer), Field(ge=0, le=MAX_INT32)]
Flag = Annotated[bool, BeforeValidator(_boolean), Strict()]
Role = Annotated[str, BeforeValidator(_named(ROLES)), AfterValidator(_specified)]
StateFilter = Annotated[
    str | None, BeforeValidator(_named(STATES)), AfterValidator(lambda state: None if state == STATES[0] else state)
]
Moment = Annotated[datetime, BeforeValidator(_moment)]


class MessagePart(Params):
    """A part of a message: exactly one of ``text``, ``raw`` (base64), ``url`` and ``data`` (any JSON, null too)."""

    with_presence: ClassVar[frozenset[str]] = frozenset(CONTENTS)

    text: Text | None = None
    raw: Base64 | None = None
    url: Text | None = None
    data: Any = None
    media_type: Text = ""
    filename: Text = ""
    metadata: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _has_a_single_content(cls, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        body = {key: value for key, value in body.items() if value is not None or key == "data"}
        if sum(name in body for name in CONTENTS) != 1:
            raise ValueError(f"must have exactly one of {', '.join(CONTENTS)}")
        return body

    def part(self) -> dict[str, Any]:
        """Return the part as JSON without empty members."""
        content = next(name for name in CONTENTS if name in self.model_fields_set)
        beside = {"mediaType": self.media_type, "filename": self.filename, "metadata": self.metadata}
        return {content: getattr(self, content), **{name: value for name, value in beside.items() if value}}


class MessageToAgent(Params):
    """A message for the agent. With a ``taskId`` it continues that task, else it makes a new one."""

    message_id: Id
    role: Role
    parts: list[MessagePart] = Field(min_length=1)
    context_id: ContextId | None = None
    task_id: Text | None = None
    metadata: dict[str, Any] = {}
    extensions: list[Text] = []
    reference_task_ids: list[Text] = []

    @property
    def is_agents(self) -> bool:
        """Whether its sender gave itself the role of an agent."""
        return self.role == "ROLE_AGENT"

    @property
    def media_types(self) -> Sequence[str]:
        """The media types that its parts name, each once."""
        return list(dict.fromkeys(part.media_type for part in self.parts if part.media_type))


class PushAuthentication(Params):
    """The ``Authorization`` header of a notification: ``scheme`` and ``credentials``."""

    scheme: HeaderText
    credentials: HeaderText | None = None


class PushConfigFields(Params):
    """The receiver of a task's events. ``id`` is its client's choice, None without one."""

    url: WebAddress
    id: ConfigId | None = None
    token: HeaderText | None = None
    authentication: PushAuthentication | None = None


class SendConfiguration(Params):
    """How to answer a message. Without ``historyLength`` the answer has all messages.

    ``ifGenerationMatch`` is not checked here, since it counts only with the extension for generations.
    """

    accepted_output_modes: list[Text] = []
    history_length: Count | None = None
    return_immediately: Flag = False
    task_push_notification_config: PushConfigFields | None = None
    if_generation_match: Any = None


class Tenanted(Params):
    """The parameters of an operation. ``tenant`` names the agent where the URL does not."""

    tenant: Text = ""


class SendMessageRequest(Tenanted):
    """A message to send, waiting for the answer or with a stream of events."""

    message: MessageToAgent
    configuration: SendConfiguration = SendConfiguration()
    metadata: dict[str, Any] = {}

    def envelope(
        self,
        recipient: AgentRef,
        *,
        task_id: UUID | None,
        context_id: str,
        extensions: Sequence[str],
        push: PushTarget | None = None,
    ) -> TaskEnvelope:
        """Return the task that the message makes; raise `InvalidRequestError` for an invalid work timeout.

        The request has activated ``extensions``. ``push`` is the receiver of the task's events.
        """
        message = self.message
        parts = [part.part() for part in message.parts]
        intent_text = text_of_parts(parts)
        opening = Opening(
            blocks=blocks_of(parts),
            message_id=message.message_id,
            is_agents=message.is_agents,
            extra={
                "metadata": message.metadata,
                "extensions": message.extensions,
                "reference_task_ids": message.reference_task_ids,
            },
        )
        more = {
            "accepted_output_modes": self.configuration.accepted_output_modes,
            "extensions": list(extensions),
            "metadata": self.metadata,
        }
        return TaskEnvelope(
            recipient=recipient,
            intent_text=intent_text,
            id=task_id,
            context_id=context_id,
            metadata={"message": opening.stored(intent_text)} | {key: value for key, value in more.items() if value},
            work_timeout=work_timeout(self.metadata),
            dialect=A2A,
            converses=True,
            reads_result=True,
            push=push,
        )

    def words(self) -> Words:
        """Return the message as a further one of its task."""
        message = self.message
        return Words(
            content=blocks_of([part.part() for part in message.parts]),
            message_id=message.message_id,
            metadata=message.metadata or None,
            extensions=tuple(message.extensions),
            reference_task_ids=tuple(message.reference_task_ids),
            as_agent=message.is_agents,
        )


class GetTaskRequest(Tenanted):
    """A task to read. ``currentGeneration`` counts only with the extension for generations, see `fields.generation`."""

    id: Text
    history_length: Count | None = None
    current_generation: Any = None


class ListTasksRequest(Tenanted):
    """A page of tasks, perhaps of one context or state. ``status`` None: all states."""

    context_id: Text | None = None
    status: StateFilter | None = None
    page_size: Count = Field(PAGE_SIZE, ge=1, le=MAX_PAGE_SIZE)
    page_token: Text | None = None
    history_length: Count | None = None
    status_timestamp_after: Moment | None = None
    include_artifacts: Flag = False


class CancelTaskRequest(Tenanted):
    """A task to cancel."""

    id: Text
    metadata: dict[str, Any] = {}


class SubscribeToTaskRequest(Tenanted):
    """A task whose events to stream."""

    id: Text


class CreatePushConfigRequest(Tenanted, PushConfigFields):
    """A receiver to add to a task, or to replace."""

    task_id: Text


class GetPushConfigRequest(Tenanted):
    """A receiver to read."""

    task_id: Text
    id: Text


class ListPushConfigsRequest(Tenanted):
    """A page of a task's receivers. A ``pageSize`` of 0 means that it is absent."""

    task_id: Text
    page_size: Count = 0
    page_token: Text | None = None

    @model_validator(mode="after")
    def _of_usual_size(self) -> Self:
        self.page_size = min(self.page_size or PAGE_SIZE, MAX_PAGE_SIZE)
        return self


class DeletePushConfigRequest(Tenanted):
    """A receiver to delete."""

    task_id: Text
    id: Text


class GetExtendedAgentCardRequest(Tenanted):
    """The extended card of the agent."""


class PageQuery(Params):
    """A page of a list, from its beginning without a token."""

    page_size: Count = 0
    page_token: Text | None = None


class NoParams(BaseModel):
    """An empty object, or no body at all."""


class RpcBody(BaseModel):
    """A call of JSON-RPC. ``params`` are those of the method, which is one of A2A 1.0 or 0.3."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str
    params: dict[str, Any] = {}
