"""Errors in fields, in words of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OBJECT, _ARRAY, _NUMBER = "must be a JSON object", "must be a JSON array", "must be a whole number"
_WORDS: Mapping[str, str] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request",
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dict_type": _OBJECT,
    "list_type": _ARRAY,
    "string_type": "must be text",
    "int_type": _NUMBER,
    "int_parsing": _NUMBER,
    "int_parsing_size": _NUMBER,
    "int_from_float": _NUMBER,
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "union_tag_not_found": "must have the field {discriminator}",
    "union_tag_invalid": "must have one of {expected_tags} as its {discriminator}",
    "value_error": "{error}",
}


def problem(found: Mapping[str, Any]) -> str:
    """Return the problem that one of pydantic's errors reports. Pydantic's words about Python are replaced."""
    words = _WORDS.get(found["type"])
    return words.format_map(found.get("ctx", {})) if words else str(found["msg"])
