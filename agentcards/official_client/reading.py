"""JSON of other servers, read into values that both databases can store."""

import json
from typing import Any

from mailbox.outbound.errors import ExternalServiceError
from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError
from mailbox.words.json_text import storable

Json = dict[str, Any]


def read_json(text: bytes | str, what: str) -> Any:
    """Return the JSON value of an answer. Characters that a database cannot store become U+FFFD.

    Raises `ExternalServiceError`, which says that ``what`` is unusable, for text that is not JSON or is nested too
    deep.
    """
    try:
        return json_text.loads(text)
    except InvalidJsonError:
        pass
    try:
        value = _storable(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ExternalServiceError(f"{what} is not JSON") from error
    if problem := json_text.problem_in(value):
        raise ExternalServiceError(f"{what} cannot be stored: {problem}")
    return value


def read_object(text: bytes | str, what: str) -> Json:
    """Return the JSON object of an answer as `read_json` does; other JSON raises, too."""
    value = read_json(text, what)
    if not isinstance(value, dict):
        raise ExternalServiceError(f"{what} is not a JSON object")
    return value


def storable_object(value: Json, what: str) -> Json:
    """Return JSON that was read elsewhere with U+FFFD for the characters that a database cannot store.

    Raises `ExternalServiceError`, which says that ``what`` is unusable, for JSON that is nested too deep.
    """
    try:
        stored = {storable(name): _storable(entry) for name, entry in value.items()}
    except RecursionError as error:
        raise ExternalServiceError(f"{what} is nested too deep") from error
    if problem := json_text.problem_in(stored):
        raise ExternalServiceError(f"{what} cannot be stored: {problem}")
    return stored


def text_in(value: Json, name: str) -> str:
    """Return the text under a name, "" for anything else."""
    member = value.get(name)
    return member if isinstance(member, str) else ""


def object_in(value: Json, name: str) -> Json:
    """Return the object under a name, {} for anything else."""
    member = value.get(name)
    return member if isinstance(member, dict) else {}


def objects_in(value: Json, name: str) -> list[Json]:
    """Return the objects of the list under a name, without entries of other types."""
    member = value.get(name)
    return [entry for entry in member if isinstance(entry, dict)] if isinstance(member, list) else []


def texts_in(value: Json, name: str) -> list[str]:
    """Return the texts of the list under a name, without entries of other types."""
    member = value.get(name)
    return [entry for entry in member if isinstance(entry, str)] if isinstance(member, list) else []


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(entry) for entry in value]
    if isinstance(value, dict):
        return {storable(name): _storable(entry) for name, entry in value.items()}
    return value
