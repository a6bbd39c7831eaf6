"""Client of remote agents: fetches their cards, submits tasks and polls until they end, like corvid-agent's client.

All processes share a cache of the cards. Base URLs come from operators and may carry credentials (`BaseUrl`). The hub
never calls a URL from a card.
Source: corvid-agent, A2A protocol, "Exported Functions", invariants 8 to 11, "Error Cases".
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

from django.utils import timezone

from agentcards.errors import SubmitRefusedError
from agentcards.models import RemoteCard
from agentcards.official_client.interfaces import CARD_PATH
from mailbox.database import outages
from mailbox.outbound import exchange
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import AnswerTooLargeError, ExternalServiceError, ValidationError
from mailbox.outbound.exchange import ServerResponse
from mailbox.words import json_text
from mailbox.words.json_text import storable

CARD_TTL = timedelta(minutes=5)
CARD_WITHIN = 10.0  # seconds
USER_AGENT = "A2A-Hub/A2A-Client"
SUBMIT_WITHIN, LOOK_WITHIN = 30.0, 10.0  # seconds
LOOK_EVERY = 3.0  # seconds
DEFAULT_TIMEOUT_MS = 300_000
_logger = logging.getLogger(__name__)


def fetch_card(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the card at this URL.

    Cards at most 5 minutes old come from the cache; a fetch deletes older cards. Failures are not cached. Only ``name``
    and ``version`` are validated. Raises `BlockedUrlError`, `ValidationError`, and `ExternalServiceError` within 10
    seconds.
    """
    fresh_after = timezone.now() - CARD_TTL
    cached = RemoteCard.objects.filter(url=url, fetched_at__gte=fresh_after).first()
    if cached is not None:
        return cached.card
    answer = exchange.exchange("GET", url, within=CARD_WITHIN, headers={"Accept": "application/json", **headers})
    if not answer.is_success:
        raise ExternalServiceError(
            f"Failed to fetch Agent Card from {url}: HTTP {answer.status} {answer.reason}".rstrip()
        )
    card = json_object(answer, f"Agent Card from {url}")
    if not card.get("name") or not card.get("version"):
        raise ValidationError(f"Invalid Agent Card from {url}: missing required fields (name, version)")
    _cache(url, json.dumps(card), fresh_after)
    return card


@outages.outlasted
def _cache(url: str, document: str, fresh_after: datetime) -> None:
    RemoteCard.objects.filter(fetched_at__lt=fresh_after).delete()
    RemoteCard.objects.update_or_create(url=url, defaults={"document": document, "fetched_at": timezone.now()})


def forget_cards() -> None:
    """Delete every cached card, for all processes."""
    RemoteCard.objects.all().delete()


def json_object(answer: ServerResponse, what: str) -> dict[str, Any]:
    """Return the answer's JSON object, and {} for any other JSON, as corvid-agent's client does.

    Raises `ExternalServiceError` if the body is not JSON. ``what`` names the answer in its message.
    """
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ExternalServiceError(f"Invalid {what}: not JSON") from error
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteInvocationResult:
    """How an invocation ended.

    ``task_id`` is the remote agent's id of the task, "" if it did not take the task. ``response_text`` is the
    agent's last message, None without any. ``error`` is None on success.
    """

    success: bool
    task_id: str
    response_text: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTask:
    """A task as its remote agent shows it. ``texts`` holds the first text of each agent message, in order."""

    state: str
    texts: tuple[str | None, ...]

    @property
    def has_ended(self) -> bool:
        return self.state in ("completed", "failed")

    @property
    def response_text(self) -> str | None:
        return self.texts[-1] if self.texts else None

    @property
    def error(self) -> str | None:
        """The reason of a failure, None if the task has not failed."""
        if self.state != "failed":
            return None
        return self.response_text or "Task failed"


def fetch_agent_card(base_url: str) -> dict[str, Any]:
    """Return the card at ``<base_url>/.well-known/agent-card.json``.

    Raises and caches as `remote_cards.fetch`; also raises `BlockedUrlError` for the base URL.
    """
    base = BaseUrl.parse(base_url)
    return fetch_card(base.text + CARD_PATH, _headers(base))


def discover_agent(base_url: str) -> dict[str, Any] | None:
    """Return the card as `fetch_agent_card` does, None on any failure."""
    try:
        return fetch_agent_card(base_url)
    except (ExternalServiceError, ValidationError) as error:
        _logger.debug("no agent card: %s", error)
        return None


def invoke_remote_agent(
    base_url: str, message: str, *, skill: str | None = None, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> RemoteInvocationResult:
    """Submit a task to a remote agent, once. Poll it at once and then every 3 seconds until it ends or time is up.

    The timeout counts from the moment the agent took the task. These outcomes are results with an error: a rejected
    submission, a failed task, an answer too large to read, the timeout. Failed polls are repeated. A task that
    outlasts the timeout continues at the remote agent. Raises `BlockedUrlError`. Raises `ExternalServiceError` if
    the submission got no usable answer; whether the agent took the task is then unknown.
    """
    base = BaseUrl.parse(base_url)
    try:
        task_id = submit(base, message, skill=skill, timeout_ms=timeout_ms)
    except SubmitRefusedError as refusal:
        return RemoteInvocationResult(success=False, task_id="", response_text=None, error=refusal.message)
    gives_up_at = monotonic() + timeout_ms / 1000
    while (left := gives_up_at - monotonic()) > 0:
        try:
            seen = look(base, task_id, within=min(left, LOOK_WITHIN))
        except AnswerTooLargeError as failure:
            return RemoteInvocationResult(success=False, task_id=task_id, response_text=None, error=failure.message)
        if seen is not None and seen.has_ended:
            return RemoteInvocationResult(
                success=seen.error is None, task_id=task_id, response_text=seen.response_text, error=seen.error
            )
        sleep(max(0.0, min(LOOK_EVERY, gives_up_at - monotonic())))
    return RemoteInvocationResult(success=False, task_id=task_id, response_text=None, error=timed_out(timeout_ms))


def submit(base: BaseUrl, message: str, *, skill: str | None, timeout_ms: int, depth: int | None = None) -> str:
    """Submit a task, once, within 30 seconds; return the remote agent's id of it.

    ``depth`` counts the agents that have passed the request on, including the hub; None leaves it out.
    Raises `SubmitRefusedError` if the agent did not take the task, and `NotReachedError` if it received nothing. After
    any other `ExternalServiceError` it is unknown whether the agent took the task.
    """
    fields = {"message": storable(message), "skill": skill, "timeoutMs": timeout_ms, "depth": depth}
    params = {name: value for name, value in fields.items() if value is not None}
    try:
        answer = exchange.exchange(
            "POST",
            f"{base.text}/a2a/tasks/send",
            within=SUBMIT_WITHIN,
            headers=_headers(base, **{"Content-Type": "application/json"}),
            content=json_text.dumps({"params": params}).encode(),
        )
    except AnswerTooLargeError as error:
        if error.is_success:
            raise
        raise SubmitRefusedError(error.status, error.public_message) from error
    if not answer.is_success:
        raise SubmitRefusedError(answer.status, storable(answer.text))
    task_id = json_object(answer, f"task from {base.text}").get("id")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= 500:
        raise ExternalServiceError(f"Invalid task from {base.text}: missing required field (id)")
    return storable(task_id)


def look(base: BaseUrl, task_id: str, *, within: float = LOOK_WITHIN) -> RemoteTask | None:
    """Poll: return the task as the remote agent shows it now, None on any failure.

    Raises `AnswerTooLargeError` if the answer is a success but too large to read: repeating the poll cannot help.
    """
    url = f"{base.text}/a2a/tasks/{quote(task_id, safe='')}"
    try:
        answer = exchange.exchange("GET", url, within=within, headers=_headers(base))
        shown = json_object(answer, f"task from {url}") if answer.is_success else None
    except (ExternalServiceError, ValidationError) as error:
        if isinstance(error, AnswerTooLargeError) and error.is_success:
            raise
        _logger.debug("polling a remote task failed: %s", error)
        return None
    if shown is None:
        return None
    return RemoteTask(state=str(shown.get("state")), texts=_agent_texts(shown.get("messages")))


def timed_out(timeout_ms: int) -> str:
    return f"Timed out after {timeout_ms}ms"


def _headers(base: BaseUrl, **more: str) -> Mapping[str, str]:
    authorization = {} if base.authorization is None else {"Authorization": base.authorization}
    return {"User-Agent": USER_AGENT, **more, **authorization}


def _agent_texts(messages: object) -> tuple[str | None, ...]:
    entries = messages if isinstance(messages, list) else []
    return tuple(
        _first_text(entry.get("parts")) for entry in entries if isinstance(entry, dict) and entry.get("role") == "agent"
    )


def _first_text(parts: object) -> str | None:
    match parts:
        case [{"text": str(text)}, *_]:
            return storable(text)
    return None
