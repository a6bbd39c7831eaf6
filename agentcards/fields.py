"""Columns for keys and for URLs with credentials, which are stored encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

from mailbox.words import secret_box
from mailbox.words.redaction import has_credentials
from mailbox.words.secret_box import UnreadableSecretError

if TYPE_CHECKING:
    UrlField = models.CharField[str, str]
else:
    UrlField = models.CharField

SEALED = "sealed:"  # begins the stored text of an encrypted URL
UNREADABLE = "(encrypted under another SECRET_KEY)"  # read in place of a URL that cannot be decrypted


def opened(stored: str) -> str:
    """Return the URL of the column's text: `UNREADABLE` if it was encrypted under an unknown secret."""
    if not stored.startswith(SEALED):
        return stored
    try:
        return secret_box.unseal(stored.removeprefix(SEALED))
    except UnreadableSecretError:
        return UNREADABLE


class SealedUrlField(UrlField):
    """A URL. The database gets it encrypted if it `has_credentials`, so that SQL cannot compare such URLs.

    A plain URL with credentials, which an earlier version stored, is read too. `agentcards.secrets` encrypts it.
    """

    def db_type(self, connection: Any) -> str:
        return "text"  # an encrypted URL is longer than the field allows the URL to be

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return None if value is None else opened(value)

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        if not isinstance(prepared, str) or not has_credentials(prepared):
            return prepared
        return f"{SEALED}{secret_box.seal(prepared)}"


class SealedKeyField(SealedUrlField):
    """A key. The database gets it encrypted, so that SQL can only tell whether there is one."""

    def get_prep_value(self, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return value
        return f"{SEALED}{secret_box.seal(value)}"
