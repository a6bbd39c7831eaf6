"""The wall between the carrier and the ways of carrying: how a task is submitted, and seen at its agent."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentcards.carriages.reporting import RemoteEnding
from agentcards.models import RemoteCall


class RemoteSnapshot(Protocol):
    """The task at one moment, as its remote agent shows it."""

    @property
    def ending(self) -> RemoteEnding | None:
        """How the remote task has ended; None while it has not."""

    def report(self, call: RemoteCall) -> bool:
        """Post what is new in it under the call's lease, or a heartbeat. False: the lease has ended.

        Raises `TooMuchError` if the task has no room for it, and `NotAskableError` for a question that its sender
        cannot answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A submission that a remote agent took. The sender reads ``note``. ``snapshot`` is what the answer shows."""

    remote_task_id: str
    note: str = ""
    snapshot: RemoteSnapshot | None = None


class Carriage(Protocol):
    """A way of carrying. `RemoteCall.protocol` names the way of a call."""

    def urls(self, call: RemoteCall) -> Sequence[str]:
        """Return the agent's URLs without credentials, the longest first. Senders may see their hosts alone.

        Raises `BlockedUrlError` for a URL that the hub may not call.
        """

    def submit(self, call: RemoteCall) -> Taken | RemoteEnding | None:
        """Submit the call's task, once. Return the ending if the agent answers at once.

        Returns None without a submission if another carrier has taken over the call.

        Raises `NotReachedError` and `PutOffError` if the agent has taken nothing, so that it can be called again
        later. Raises `BlockedUrlError`, and another `ExternalServiceError` if the agent did not take the task, or
        might have.
        """

    def look(self, call: RemoteCall) -> RemoteSnapshot | None:
        """Poll the remote task; return None for a poll that failed.

        Raises `AnswerTooLargeError` if repeating the poll cannot help.
        """

    def follows(self, call: RemoteCall) -> bool:
        """Whether `snapshots` can follow the remote task by a stream."""

    def snapshots(self, call: RemoteCall, *, within: float) -> Generator[RemoteSnapshot]:
        """Follow the remote task for at most ``within`` seconds: yield what it shows now, and after each change.

        Ends early if the agent ends the stream. A stream that fails ends, too.
        """
