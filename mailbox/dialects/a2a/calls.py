"""One call of the official protocol: who calls which agent, in which version, with which extensions.

A call may name a receiver of its task's events. Source: A2A 1.0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from agentcards.official_agents import OfficialAgent
from mailbox.access.callers import Caller
from mailbox.dialects.a2a import errors
from mailbox.dialects.a2a.requests import PushConfigFields, SendMessageRequest
from mailbox.models import Agent
from mailbox.words.a2a.v1_0 import GENERATION
from mailbox.words.errors import InvalidRequestError, WrongPartyError
from mailbox.words.push import PushProtocol, PushTarget

OWN_EXTENSIONS = (GENERATION,)  # extensions that every agent of the hub has
_PATHS: Mapping[str, str] = {
    "config_id": "id",
    "auth_scheme": "authentication.scheme",
    "auth_credentials": "authentication.credentials",
    "cursor": "pageToken",
}
_INLINE = "push."  # begins the paths of the receiver that came with a message


class Version(StrEnum):
    """A version of the protocol that the hub serves."""

    V1_0 = "1.0"
    V0_3 = "0.3"


_SPOKEN: Mapping[str, Version] = {"": Version.V0_3, "0.3": Version.V0_3, "1.0": Version.V1_0}


def version_of(named: str) -> Version:
    """Return the version of a request that names this one; the third number does not count, and no name means 0.3.

    Raises `VersionNotSupportedError`.
    """
    named = named.strip()
    numbers = named.split(".")
    if len(numbers) == 3 and numbers[2].isascii() and numbers[2].isdigit():
        named = ".".join(numbers[:2])
    if named not in _SPOKEN:
        raise errors.VersionNotSupportedError(f'The hub serves A2A 1.0 and 0.3, and not "{named[:20]}".')
    return _SPOKEN[named]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request activates ``extensions``. ``idempotency_key`` is "" without one."""

    caller: Caller
    official: OfficialAgent
    version: Version = Version.V1_0
    extensions: Sequence[str] = ()
    idempotency_key: str = ""
    last_event_id: str | None = None

    @property
    def sender(self) -> Agent:
        """The agent that calls. Raises `WrongPartyError` for people."""
        if self.caller.agent is None:
            raise WrongPartyError("Only agents speak A2A here. Use the API key of an agent.")
        return self.caller.agent

    def must_be_an_agents(self) -> None:
        """Raise `WrongPartyError` for a person's key."""
        _ = self.sender

    @property
    def agent(self) -> Agent:
        """The agent that is called."""
        return self.official.agent

    @property
    def numbers_events(self) -> bool:
        """Whether tasks and events show their generation."""
        return GENERATION in self.extensions


def activated(named: Iterable[str], official: OfficialAgent) -> list[str]:
    """Return which extensions of a request's headers the agent has, each once.

    Raises `ExtensionSupportRequiredError` if the request leaves out an extension that the agent requires.
    """
    wanted = dict.fromkeys(uri.strip() for header in named for uri in header.split(","))
    for uri in sorted(official.required_extensions.difference(wanted)):
        raise errors.ExtensionSupportRequiredError(
            f"This agent requires the extension {uri}. Name it in the header A2A-Extensions."
        )
    known = {*OWN_EXTENSIONS, *official.extensions}
    return [uri for uri in wanted if uri in known]


def require_push(call: Call) -> None:
    """Raise `PushNotificationNotSupportedError` if the agent's card denies them."""
    if not call.official.profile.push_notifications:
        raise errors.PushNotificationNotSupportedError


def inline_target(call: Call, body: SendMessageRequest) -> PushTarget | None:
    """Return the receiver that comes with a message; None without one."""
    config = body.configuration.task_push_notification_config
    if config is None:
        return None
    require_push(call)
    return target_of(call, config)


@contextmanager
def inline_paths() -> Iterator[None]:
    """Let the problems of a receiver that comes with a message have the paths of its request."""
    with receiver_paths("configuration.taskPushNotificationConfig."):
        yield


@contextmanager
def receiver_paths(beginning: str) -> Iterator[None]:
    try:
        yield
    except InvalidRequestError as error:
        raise InvalidRequestError(
            {_path(path, beginning): problem for path, problem in error.fields.items()}
        ) from error


def _path(path: str, beginning: str) -> str:
    if beginning and not path.startswith(_INLINE):
        return path
    name = path.removeprefix(_INLINE)
    return beginning + _PATHS.get(name, name)


def target_of(call: Call, config: PushConfigFields) -> PushTarget:
    authentication = config.authentication
    return PushTarget(
        url=config.url,
        config_id=config.id or None,
        token=config.token or None,
        auth_scheme=authentication.scheme if authentication else None,
        auth_credentials=(authentication.credentials or None) if authentication else None,
        protocol=PushProtocol(call.version),
    )
