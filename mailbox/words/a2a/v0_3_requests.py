"""Requests of the official A2A protocol 0.3 as requests of 1.0, and their answers as those of 0.3.

Pure. The values in them are those of `v0_3`. Source: A2A 0.3.0, "Protocol RPC Methods".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from mailbox.words.a2a import v0_3
from mailbox.words.errors import InvalidRequestError, UnknownTaskError

# The methods of 0.3, and the methods of 1.0 that take their place. 0.3 cannot list tasks.
METHODS: Mapping[str, str] = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
    "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
    "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
    "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}
_SENDS = ("message/send", "message/stream")
_OF_CONFIGS = "tasks/pushNotificationConfig/"
_OBJECT, _ARRAY, _REQUIRED = "must be a JSON object", "must be a JSON array", "is required"
_INTERRUPTED = frozenset({"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"})
# How 0.3 spells the paths of 1.0.
_PATHS_OF_SENDS = (
    (re.compile(r"^(message\.parts\.\d+)\.raw$"), r"\1.file.bytes"),
    (re.compile(r"^(message\.parts\.\d+)\.url$"), r"\1.file.uri"),
    (re.compile(r"^(message\.parts\.\d+)\.mediaType$"), r"\1.file.mimeType"),
    (re.compile(r"^(message\.parts\.\d+)\.filename$"), r"\1.file.name"),
    (re.compile(r"^configuration\.taskPushNotificationConfig"), "configuration.pushNotificationConfig"),
    (re.compile(r"authentication\.scheme$"), "authentication.schemes"),
)
_PATHS_OF_A_NEW_CONFIG = (
    (re.compile(r"^(url|id|token|authentication)\b"), r"pushNotificationConfig.\1"),
    (re.compile(r"authentication\.scheme$"), "authentication.schemes"),
)
_PATHS_OF_CONFIGS: Mapping[str, str] = {"taskId": "id", "id": "pushNotificationConfigId"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRequest:
    """A request of 0.3, whose method is ``wanted``, as ``method`` and ``params`` of 1.0.

    ``is_for_the_only``: it wants the only receiver of a task, so that ``method`` lists all of them.
    """

    wanted: str
    method: str
    params: v0_3.Json
    is_for_the_only: bool = False

    @classmethod
    def read(cls, wanted: str, params: object) -> Self:
        """Read the parameters of a method of `METHODS`; None means that there are none.

        Only what the translation needs is checked, the shape of 1.0 checks the rest. Raises `InvalidRequestError` with
        paths of 0.3.
        """
        members = {} if params is None else params
        if not isinstance(members, Mapping):
            raise InvalidRequestError({"params": _OBJECT})
        present = {key: value for key, value in members.items() if value is not None}
        is_for_the_only = wanted == f"{_OF_CONFIGS}get" and not present.get("pushNotificationConfigId")
        method = METHODS[f"{_OF_CONFIGS}list" if is_for_the_only else wanted]
        if problems := dict(_problems(wanted, present)):
            raise InvalidRequestError(problems)
        return cls(wanted=wanted, method=method, params=_params(wanted, present), is_for_the_only=is_for_the_only)

    def answer(self, result: Any) -> Any:
        """Return the result of 1.0 as that of 0.3; the card as it is.

        For the only receiver of a task raises `UnknownTaskError` if there is none, and `InvalidRequestError` if there
        are several.
        """
        if self.wanted in _SENDS:
            return self.event(result)
        if self.wanted in ("tasks/get", "tasks/cancel"):
            return v0_3.task_out(result)
        if self.is_for_the_only:
            return v0_3.push_config_out(_only(result["configs"]))
        match self.wanted.removeprefix(_OF_CONFIGS):
            case "set" | "get":
                return v0_3.push_config_out(result)
            case "list":
                return [v0_3.push_config_out(config) for config in result["configs"]]
        return result

    def event(self, response: Mapping[str, Any]) -> v0_3.Json:
        """Return an event of 1.0 as that of 0.3. A new message's stream also ends with a question of the agent."""
        state = response.get("statusUpdate", {}).get("status", {}).get("state")
        return v0_3.event_out(response, ends_stream=self.wanted in _SENDS and state in _INTERRUPTED)

    def problem(self, error: InvalidRequestError) -> InvalidRequestError:
        """Return the problems that a shape of 1.0 found, with paths of 0.3."""
        return InvalidRequestError({self._path(path): problem for path, problem in error.fields.items()})

    def _path(self, path: str) -> str:
        if self.wanted in _SENDS or self.wanted == f"{_OF_CONFIGS}set":
            for pattern, old in _PATHS_OF_SENDS if self.wanted in _SENDS else _PATHS_OF_A_NEW_CONFIG:
                path = pattern.sub(old, path)
            return path
        return _PATHS_OF_CONFIGS.get(path, path) if self.wanted.startswith(_OF_CONFIGS) else path


def _params(wanted: str, params: Mapping[str, Any]) -> v0_3.Json:
    """Return the parameters in 1.0 of parameters without problems."""
    if wanted in _SENDS:
        sent = {**params, "message": v0_3.message_in(params["message"])}
        return {**sent, "configuration": _configuration_in(params.get("configuration", {}))}
    if wanted == f"{_OF_CONFIGS}set":
        return {**_without(params, "pushNotificationConfig"), **v0_3.push_config_in(params)}
    if wanted.startswith(_OF_CONFIGS):
        renamed = {new: params[old] for new, old in _PATHS_OF_CONFIGS.items() if params.get(old)}
        return _without(params, *_PATHS_OF_CONFIGS.values()) | renamed
    if wanted == "tasks/get" and _is_zero(params.get("historyLength")):
        return _without(params, "historyLength")
    return dict(params)


def _configuration_in(configuration: Mapping[str, Any]) -> v0_3.Json:
    """Return the configuration of a send. A history length of 0 means all messages in 0.3."""
    translated = {
        key: configuration[key]
        for key in ("acceptedOutputModes", "historyLength")
        if configuration.get(key) is not None
    }
    if _is_zero(translated.get("historyLength")):
        del translated["historyLength"]
    if configuration.get("blocking") is False:
        translated["returnImmediately"] = True
    if configuration.get("pushNotificationConfig"):
        translated["taskPushNotificationConfig"] = v0_3.receiver_in(configuration["pushNotificationConfig"])
    return translated


def _problems(wanted: str, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (path, problem) for what the translation cannot read."""
    if wanted in _SENDS:
        yield from _problems_of_message(params.get("message"))
        yield from _problems_of_configuration(params.get("configuration", {}))
    elif wanted == f"{_OF_CONFIGS}set":
        if "pushNotificationConfig" in params:
            yield from _problems_of_receiver(params["pushNotificationConfig"], "pushNotificationConfig")
        else:
            yield "pushNotificationConfig", _REQUIRED


def _problems_of_message(message: object) -> Iterator[tuple[str, str]]:
    if not isinstance(message, Mapping):
        yield "message", _REQUIRED if message is None else _OBJECT
        return
    if (role := message.get("role")) is None:
        yield "message.role", _REQUIRED
    elif not isinstance(role, str) or role not in v0_3.ROLE_IN:
        yield "message.role", "must be user or agent"
    if not isinstance(parts := message.get("parts"), list):
        yield "message.parts", _REQUIRED if parts is None else _ARRAY
        return
    for number, part in enumerate(parts):
        yield from _problems_of_part(part, f"message.parts.{number}")


def _problems_of_part(part: object, path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(part, Mapping):
        yield path, _OBJECT
        return
    if not isinstance(part.get("metadata") or {}, Mapping):
        yield f"{path}.metadata", _OBJECT
    kind = v0_3.part_kind(part)
    if not isinstance(kind, str) or kind not in ("text", "file", "data"):
        yield f"{path}.kind", "must be text, file or data"
    elif (content := part.get(kind)) is None:
        yield f"{path}.{kind}", _REQUIRED
    elif kind != "text" and not isinstance(content, Mapping):
        yield f"{path}.{kind}", _OBJECT
    elif kind == "file" and (content.get("bytes") is None) == (content.get("uri") is None):
        yield f"{path}.file", "must have either bytes or uri"


def _problems_of_configuration(configuration: object) -> Iterator[tuple[str, str]]:
    if not isinstance(configuration, Mapping):
        yield "configuration", _OBJECT
        return
    if not isinstance(configuration.get("blocking"), bool | None):
        yield "configuration.blocking", "must be true or false"
    if configuration.get("pushNotificationConfig") is not None:
        yield from _problems_of_receiver(
            configuration["pushNotificationConfig"], "configuration.pushNotificationConfig"
        )


def _problems_of_receiver(inner: object, path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(inner, Mapping):
        yield path, _OBJECT
        return
    authentication = inner.get("authentication") or {}
    if not isinstance(authentication, Mapping):
        yield f"{path}.authentication", _OBJECT
    elif not isinstance(authentication.get("schemes") or [], list):
        yield f"{path}.authentication.schemes", _ARRAY


def _only(configs: list[v0_3.Json]) -> v0_3.Json:
    if not configs:
        raise UnknownTaskError("this task has no push notification config")
    if len(configs) > 1:
        raise InvalidRequestError({"pushNotificationConfigId": "is required, since the task has several configs"})
    return configs[0]


def _is_zero(value: object) -> bool:
    return value == 0 and not isinstance(value, bool)


def _without(members: Mapping[str, Any], *names: str) -> v0_3.Json:
    return {name: value for name, value in members.items() if name not in names}
