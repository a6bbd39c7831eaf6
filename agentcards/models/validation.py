"""The checks of the fields of profiles and tools."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text

MOST_NAMES = 1000
LONGEST_NAME = 200
LONGEST_TEXT = 20_000


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
