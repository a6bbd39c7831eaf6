"""Keyed digests of content. They show that content was repeated, after the content itself was deleted."""

from __future__ import annotations

import json

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

_SALT = "a2a hub: digests of content"


def digest(value: object) -> str:
    """Return the digest of a JSON value. Values have the same digest if they are the same for `json_text.same`.

    Its key is derived from SECRET_KEY, so that a reader of the digest cannot guess short content.
    """
    return _digest(value, settings.SECRET_KEY)


def fits(value: object, kept: str) -> bool:
    """Whether ``kept`` is the digest of ``value``, under SECRET_KEY or one of SECRET_KEY_FALLBACKS."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(constant_time_compare(_digest(value, key), kept) for key in keys)


def _digest(value: object, key: str | bytes) -> str:
    return salted_hmac(_SALT, json.dumps(value, sort_keys=True), secret=key, algorithm="sha256").hexdigest()
