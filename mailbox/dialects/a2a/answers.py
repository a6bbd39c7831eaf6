"""The answers of the official protocol, for its OpenAPI description. Source: A2A 1.0, data model."""

from typing import Any, Literal, NotRequired

from pydantic import RootModel
from typing_extensions import TypedDict

from mailbox.words.a2a.states import TaskState


class OfficialPart(TypedDict):
    """A part of a message or an artifact, with exactly one of text, raw, url and data."""

    text: NotRequired[str]
    raw: NotRequired[str]
    url: NotRequired[str]
    data: NotRequired[Any]
    mediaType: NotRequired[str]
    filename: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class OfficialMessage(TypedDict):
    messageId: str
    contextId: NotRequired[str]
    taskId: NotRequired[str]
    role: Literal["ROLE_USER", "ROLE_AGENT"]
    parts: list[OfficialPart]
    metadata: NotRequired[dict[str, Any]]
    extensions: NotRequired[list[str]]
    referenceTaskIds: NotRequired[list[str]]


class OfficialArtifact(TypedDict):
    artifactId: str
    name: NotRequired[str]
    description: NotRequired[str]
    parts: list[OfficialPart]
    metadata: NotRequired[dict[str, Any]]
    extensions: NotRequired[list[str]]


class OfficialStatus(TypedDict):
    """The status of a task. ``timestamp`` is in UTC, with milliseconds."""

    state: TaskState
    message: NotRequired[OfficialMessage]
    timestamp: str


class OfficialTask(TypedDict):
    id: str
    contextId: str
    status: OfficialStatus
    artifacts: NotRequired[list[OfficialArtifact]]
    history: NotRequired[list[OfficialMessage]]
    metadata: NotRequired[dict[str, Any]]


class SendMessageMembers(TypedDict):
    """Either the task, or the one message of an agent that answered directly."""

    task: NotRequired[OfficialTask]
    message: NotRequired[OfficialMessage]


class ListTasksMembers(TypedDict):
    """A page of tasks. ``totalSize`` counts at most 10,000 tasks."""

    tasks: list[OfficialTask]
    nextPageToken: str
    pageSize: int
    totalSize: int


class StatusUpdate(TypedDict):
    taskId: str
    contextId: str
    status: OfficialStatus
    metadata: NotRequired[dict[str, Any]]


class OfficialArtifactUpdate(TypedDict):
    taskId: str
    contextId: str
    artifact: OfficialArtifact
    append: NotRequired[bool]
    lastChunk: NotRequired[bool]
    metadata: NotRequired[dict[str, Any]]


class StreamMembers(TypedDict):
    """The data of one event of a stream of type text/event-stream, with exactly one member."""

    task: NotRequired[OfficialTask]
    message: NotRequired[OfficialMessage]
    statusUpdate: NotRequired[StatusUpdate]
    artifactUpdate: NotRequired[OfficialArtifactUpdate]


class PushAuthenticationShown(TypedDict):
    """The credentials stand in the answer to the request that gave them alone."""

    scheme: str
    credentials: NotRequired[str]


class PushConfigMembers(TypedDict):
    """A receiver of a task's events. ``token`` stands in the answer to the request that gave it alone."""

    id: str
    taskId: str
    url: str
    token: NotRequired[str]
    authentication: NotRequired[PushAuthenticationShown]


class PushConfigPageMembers(TypedDict):
    configs: list[PushConfigMembers]
    nextPageToken: str


class CardMembers(TypedDict, total=False):
    """The card of an agent. It may have further members."""

    name: str
    description: str
    version: str
    supportedInterfaces: list[dict[str, Any]]
    capabilities: dict[str, Any]
    defaultInputModes: list[str]
    defaultOutputModes: list[str]
    skills: list[dict[str, Any]]


class RpcFault(TypedDict):
    code: int
    message: str
    data: list[dict[str, Any]]


class RpcMembers(TypedDict):
    """A result or an error of JSON-RPC. ``id`` is that of the request."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[Any]
    error: NotRequired[RpcFault]


class RpcRefusalMembers(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | int | None
    error: RpcFault


class RestFault(TypedDict):
    """An error of the HTTP+JSON binding. ``status`` is a code of google.rpc."""

    code: int
    status: str
    message: str
    details: list[dict[str, Any]]


class RestRefusalMembers(TypedDict):
    error: RestFault


class Nothing(RootModel[dict[str, Any]]):
    """An empty object."""
