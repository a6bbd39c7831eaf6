"""The ids of requests, by which a client finds its request in the journal and in the log."""

from __future__ import annotations

import re
import uuid
from collections.abc import MutableMapping
from typing import Any

from mailbox.words import tokens

META = "HTTP_X_REQUEST_ID"  # the header in a request's META
CHOSEN = "a2a.request_id"  # in a request's META: its id, once it is chosen
CALLER = "a2a.caller"  # in a request's META: the name of its caller, once it is authenticated
STRANGER = "a2a.stranger"  # in a request's META, beside CALLER: whether anyone may be its caller

_FORM = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def chosen(wanted: str) -> str:
    """Return ``wanted`` if it is fit for an id, else a new id.

    A key or token is not fit, because an id is journalled, logged and answered.
    """
    return wanted if _FORM.fullmatch(wanted) and tokens.redact(wanted) == wanted else uuid.uuid4().hex


def of(meta: MutableMapping[str, Any]) -> str:
    """Return the id of the request with this META, which is chosen at the first call."""
    found: str | None = meta.get(CHOSEN)
    if found is None:
        meta[CHOSEN] = found = chosen(meta.get(META, ""))
    return found
