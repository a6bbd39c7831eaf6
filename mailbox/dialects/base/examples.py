"""Examples of whole bodies, made of the examples of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
PREFIX = "#/components/schemas/"
DEEPEST = 8  # levels of shapes within shapes


class NoExampleError(Exception):
    """A part of a schema has no example. The message is its path."""


def of_schema(schema: Mapping[str, Any], components: Mapping[str, Json], path: str = "", level: int = 0) -> Any:
    """Return an example of ``schema``. Raises `NoExampleError`.

    An own example comes first. An object leaves out the optional fields whose example is null.
    """
    own = [*schema.get("examples", ()), *([schema["const"]] if "const" in schema else ()), *schema.get("enum", ())]
    if own or schema.get("default") is not None:
        return own[0] if own else schema["default"]
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        if level > DEEPEST:
            raise NoExampleError(f"{path} is endless")
        return of_schema(components[name], components, path or name, level + 1)
    if is_nullable(schema):
        return None
    options = schema.get("anyOf") or schema.get("oneOf")
    return of_schema(options[0], components, path, level) if options else _of_type(schema, components, path, level)


def _of_type(schema: Mapping[str, Any], components: Mapping[str, Json], path: str, level: int) -> Any:
    match schema.get("type"):
        case "object" if "properties" in schema:
            fields = schema["properties"].items()
            made = {name: of_schema(one, components, f"{path}.{name}", level) for name, one in fields}
            required = schema.get("required", ())
            return {name: value for name, value in made.items() if value is not None or name in required}
        case "array":
            return [of_schema(schema["items"], components, f"{path}.0", level)] if schema.get("items") else []
        case "boolean":
            return True
        case "null":
            return None
    raise NoExampleError(path)


def is_nullable(schema: Mapping[str, Any]) -> bool:
    """Whether ``schema`` admits null beside other values."""
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))
