"""What corvid-agent's client does to remote agents: read their cards, hand them a task, poll for its end.

Source: corvid-agent, A2A protocol, "Exported Functions", invariants 8 to 11, "Error Cases". Base URLs come from
operators and may carry credentials (`BaseUrl`); no URL that a card names is ever called.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

from django.utils import timezone

from agentcards.errors import SubmitRefusedError
from agentcards.models import RemoteCard
from mailbox.outbound import exchange
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import AnswerTooLargeError, ExternalServiceError, ValidationError
from mailbox.words import json_text
from mailbox.words.json_text import storable

USER_AGENT = "A2A-Hub/A2A-Client"
CARD_PATH = "/.well-known/agent-card.json"
CARD_TTL = timedelta(minutes=5)
CARD_WITHIN, SUBMIT_WITHIN, LOOK_WITHIN = 10.0, 30.0, 10.0  # seconds
LOOK_EVERY = 3.0  # seconds
DEFAULT_TIMEOUT_MS = 300_000

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteInvocationResult:
    """How an invocation ended. ``task_id`` is the remote agent's, empty when it did not take the task.

    ``response_text`` is what it said last, None when it said nothing; ``error`` is None on success.
    """

    success: bool
    task_id: str
    response_text: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTask:
    """A task as its remote agent shows it. ``said`` holds the first text of each agent message, in order."""

    state: str
    said: tuple[str | None, ...]

    @property
    def has_ended(self) -> bool:
        return self.state in ("completed", "failed")

    @property
    def response_text(self) -> str | None:
        return self.said[-1] if self.said else None

    @property
    def error(self) -> str | None:
        """Why it failed; None when it did not fail."""
        if self.state != "failed":
            return None
        return self.response_text or "Task failed"


def fetch_agent_card(base_url: str) -> dict[str, Any]:
    """Return the card at ``<base_url>/.well-known/agent-card.json``, from the cache if it is at most 5 minutes old.

    All processes share the cache; a fetch drops what is older. Nothing but ``name`` and ``version`` is
    validated, and a failure is not cached. Raises `BlockedUrlError`, `ExternalServiceError` within 10
    seconds, `ValidationError`.
    """
    base = BaseUrl.parse(base_url)
    url = base.text + CARD_PATH
    fresh_after = timezone.now() - CARD_TTL
    cached = RemoteCard.objects.filter(url=url, fetched_at__gte=fresh_after).first()
    if cached is not None:
        return cached.card
    headers = _headers(base, Accept="application/json")
    answer = exchange.exchange("GET", url, within=CARD_WITHIN, headers=headers)
    if not answer.is_success:
        raise ExternalServiceError(
            f"Failed to fetch Agent Card from {url}: HTTP {answer.status} {answer.reason}".rstrip()
        )
    card = _object(answer, f"Agent Card from {url}")
    if not card.get("name") or not card.get("version"):
        raise ValidationError(f"Invalid Agent Card from {url}: missing required fields (name, version)")
    RemoteCard.objects.filter(fetched_at__lt=fresh_after).delete()
    RemoteCard.objects.update_or_create(url=url, defaults={"document": json.dumps(card), "fetched_at": timezone.now()})
    return card


def discover_agent(base_url: str) -> dict[str, Any] | None:
    """Return the card as `fetch_agent_card` does, None when there is none to be had for whatever reason."""
    try:
        return fetch_agent_card(base_url)
    except (ExternalServiceError, ValidationError) as error:
        _logger.debug("no agent found: %s", error)
        return None


def clear_agent_card_cache() -> None:
    """Forget every cached card, for all processes."""
    RemoteCard.objects.all().delete()


def invoke_remote_agent(
    base_url: str, message: str, *, skill: str | None = None, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> RemoteInvocationResult:
    """Hand the remote agent a task and poll it, at once and then every 3 seconds, until it ends or time is up.

    The time counts from when it took the task. A refused submission, a failed task, one that is too large to be
    read and the timeout are results; polls that fail are tried again. Nothing is ever submitted twice, and a task that outlasts the
    timeout goes on over there. Raises `BlockedUrlError`, and `ExternalServiceError` when the submission
    has no usable answer, so that nobody knows whether it was taken.
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
    """Hand over a task, once, within 30 seconds; return the id the remote agent gave it.

    ``depth`` counts the agents that have passed the request on, the hub included; None: nobody counts.

    Raises `SubmitRefusedError` when it did not take the task; any other `ExternalServiceError` leaves open
    whether it did.
    """
    told = {"message": storable(message), "skill": skill, "timeoutMs": timeout_ms, "depth": depth}
    params = {name: value for name, value in told.items() if value is not None}
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
        raise SubmitRefusedError(error.status, error.told) from error
    if not answer.is_success:
        raise SubmitRefusedError(answer.status, storable(answer.text))
    task_id = _object(answer, f"task from {base.text}").get("id")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= 500:
        raise ExternalServiceError(f"Invalid task from {base.text}: missing required field (id)")
    return storable(task_id)


def look(base: BaseUrl, task_id: str, *, within: float = LOOK_WITHIN) -> RemoteTask | None:
    """Return the task as the remote agent shows it now; None when it shows nothing, for whatever reason.

    Raises `AnswerTooLargeError` for a task that is shown but too large to be read, now and whenever it is shown again.
    """
    url = f"{base.text}/a2a/tasks/{quote(task_id, safe='')}"
    try:
        answer = exchange.exchange("GET", url, within=within, headers=_headers(base))
        shown = _object(answer, f"task from {url}") if answer.is_success else None
    except (ExternalServiceError, ValidationError) as error:
        if isinstance(error, AnswerTooLargeError) and error.is_success:
            raise
        _logger.debug("a look at a remote task failed: %s", error)
        return None
    return None if shown is None else RemoteTask(state=str(shown.get("state")), said=_said(shown.get("messages")))


def timed_out(timeout_ms: int) -> str:
    return f"Timed out after {timeout_ms}ms"


def _headers(base: BaseUrl, **more: str) -> Mapping[str, str]:
    authorization = {} if base.authorization is None else {"Authorization": base.authorization}
    return {"User-Agent": USER_AGENT, **more, **authorization}


def _object(answer: exchange.Answer, what: str) -> dict[str, Any]:
    """Read a JSON object as leniently as the remote agents' own client; raise `ExternalServiceError` for other bytes."""
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ExternalServiceError(f"Invalid {what}: not JSON") from error
    return value if isinstance(value, dict) else {}


def _said(messages: object) -> tuple[str | None, ...]:
    entries = messages if isinstance(messages, list) else []
    return tuple(
        _first_text(entry.get("parts")) for entry in entries if isinstance(entry, dict) and entry.get("role") == "agent"
    )


def _first_text(parts: object) -> str | None:
    match parts:
        case [{"text": str(text)}, *_]:
            return storable(text)
    return None
