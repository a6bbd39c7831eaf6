"""The checks of the fields of profiles and tools."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text, tokens
from mailbox.words.a2a.parts import DEEPEST

MOST_NAMES = 1000
LONGEST_NAME = 200
LONGEST_TEXT = 20_000
MOST_MODES = 50
MOST_EXTENSIONS = 20
LONGEST_URI = 500
LONGEST_PARAMS = 10_000  # characters of the JSON text
# PostgreSQL writes a larger number out as an integer, and canonical JSON has no such integer.
LARGEST_NUMBER = 2**53 - 1

_TOKEN = r"[A-Za-z0-9!#$&^_.+-]{1,100}"  # noqa: S105 (a part of a media type)
_MEDIA_TYPE = re.compile(rf"\*/\*|{_TOKEN}/(?:\*|{_TOKEN})", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#-+\--;=?-\[\]_a-z~]+", re.ASCII)  # a header lists them, with commas
_WEB_URL = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+", re.ASCII | re.IGNORECASE)
_OF_EXTENSION = {"uri": str, "description": str, "required": bool, "params": dict}
_JSON = {str: "string", bool: "boolean", dict: "object"}


def validate_names(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of at most `MOST_NAMES` non-blank names."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValidationError("must be a list of names")
    if len(value) > MOST_NAMES or any(len(name) > LONGEST_NAME for name in value):
        raise ValidationError(f"must have at most {MOST_NAMES} names, each of at most {LONGEST_NAME} characters")
    if problem := json_text.problem_in(value):
        raise ValidationError(problem)


def validate_storable(value: str) -> None:
    """Raise `ValidationError` for text that one of the two databases cannot store."""
    if problem := json_text.problem_with(value):
        raise ValidationError(problem)


def validate_base_url(value: str) -> None:
    """Raise `ValidationError` for a URL that the hub may not call. Judges the text alone; resolves no name."""
    try:
        BaseUrl.parse(value)
    except BlockedUrlError as error:
        raise ValidationError(error.message) from error


def validate_media_types(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of media types, such as ``text/plain`` and ``image/*``."""
    if not isinstance(value, list) or len(value) > MOST_MODES:
        raise ValidationError(f"must be a list of at most {MOST_MODES} media types")
    if wrong := [mode for mode in value if not isinstance(mode, str) or not _MEDIA_TYPE.fullmatch(mode)]:
        raise ValidationError(f"{str(wrong[0])[:100]!r} is no media type; examples: text/plain, image/*")


def validate_web_url(value: str) -> None:
    """Raise `ValidationError` for text that is no http or https URL, and for a URL with credentials.

    People open the URL, and the hub never calls it.
    """
    try:
        parts = urlsplit(value)
        is_url = bool(_WEB_URL.fullmatch(value) and parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValidationError("is no URL") from error
    if not is_url:
        raise ValidationError("must be a URL that begins with http:// or https://")
    if "@" in parts.netloc or tokens.redact(value) != value:
        raise ValidationError("must not have credentials, because the card is public")


def validate_extensions(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of ``{uri, description?, required?, params?}``.

    No URI occurs twice. Every JSON reader keeps each number in ``params`` as it is.
    """
    if not isinstance(value, list) or len(value) > MOST_EXTENSIONS:
        raise ValidationError(f"must be a list of at most {MOST_EXTENSIONS} objects")
    for extension in value:
        if problem := next(_problems_of(extension), None):
            raise ValidationError(problem)
    if len({extension["uri"] for extension in value}) < len(value):
        raise ValidationError("names a URI twice")


def _problems_of(extension: object) -> Iterator[str]:
    if not isinstance(extension, dict) or "uri" not in extension:
        yield "must be objects, each with a uri"
        return
    if unknown := extension.keys() - _OF_EXTENSION:
        yield f"unknown field {str(min(map(str, unknown)))[:50]!r}; known: {', '.join(_OF_EXTENSION)}"
    yield from (
        f"{name} must be a JSON {_JSON[kind]}"
        for name, kind in _OF_EXTENSION.items()
        if name in extension and not isinstance(extension[name], kind)
    )
    if len(extension["uri"]) > LONGEST_URI or not _URI.fullmatch(extension["uri"]):
        yield f"uri must be an absolute URI of at most {LONGEST_URI} characters, without a comma"
    if problem := json_text.problem_in(extension):
        yield problem
    if len(extension.get("description", "")) > LONGEST_PARAMS:
        yield f"description must have at most {LONGEST_PARAMS} characters"
    yield from _problems_of_params(extension.get("params", {}))


def _problems_of_params(params: dict[str, Any]) -> Iterator[str]:
    pending: list[Any] = [params]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, (int, float)) and abs(item) > LARGEST_NUMBER:
            yield f"params must not have numbers beyond {LARGEST_NUMBER}"
    if json_text.is_deeper(params, DEEPEST):
        yield f"params must not nest deeper than {DEEPEST} levels, because the Python SDK could not read the card"
    if len(json_text.dumps(params)) > LONGEST_PARAMS:
        yield f"params must have at most {LONGEST_PARAMS} characters of JSON"


def validate_key(value: str) -> None:
    """Raise `ValidationError` for a key that no HTTP header can carry."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValidationError("must be printable ASCII without spaces")
