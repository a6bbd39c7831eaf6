"""Calls of the provider of OpenID Connect. Its answer may have any size, speed and shape."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx
from django.conf import settings

from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError

LARGEST_ANSWER = 1024 * 1024  # bytes
MOST_SHOWN = 200  # characters of a refusal, for the log


class UnusableAnswerError(Exception):
    """The provider gave no answer in time, or an answer that the hub cannot use."""


def ask(method: str, url: str, **given: Any) -> tuple[str, bytes]:
    """Return the media type and the body of the provider's answer. ``given`` are arguments of `httpx.Client.stream`.

    Each call has a client of its own, which keeps no cookie. It takes ``HTTPS_PROXY`` and ``SSL_CERT_FILE`` from the
    environment, and follows no redirect. Raises `UnusableAnswerError` if no whole answer of at most 1 MiB comes within
    ``OIDC_TIMEOUT``, and for a status other than 200.
    """
    late_at = time.monotonic() + settings.OIDC_TIMEOUT
    arguments = {"timeout": settings.OIDC_TIMEOUT, **given}
    body = b""
    try:
        with httpx.Client(follow_redirects=False) as client, client.stream(method, url, **arguments) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > LARGEST_ANSWER:
                    raise UnusableAnswerError(f"{url} answered more than {LARGEST_ANSWER} bytes")
                if time.monotonic() > late_at:
                    raise UnusableAnswerError(f"{url} took longer than {settings.OIDC_TIMEOUT} s")
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise UnusableAnswerError(f"no answer from {url}: {type(error).__name__}: {error}") from error
    if response.status_code != httpx.codes.OK:
        shown = body.decode(errors="replace")[:MOST_SHOWN]
        raise UnusableAnswerError(f"{url} answered {response.status_code}: {shown!r}")
    return response.headers.get("content-type", "").partition(";")[0].strip().lower(), body


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer. Raises `UnusableAnswerError` for anything else."""
    try:
        found = json_text.loads(body)
    except InvalidJsonError as error:
        raise UnusableAnswerError(f"the provider's answer is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UnusableAnswerError("the provider's answer is no JSON object")
    return found


def text_of(found: Mapping[str, Any], name: str) -> str:
    """Return a text of the provider's answer. Raises `UnusableAnswerError` if it is missing, empty or no text."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise UnusableAnswerError(f"the provider's answer has no text {name!r}")
    return value
