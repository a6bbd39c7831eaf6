"""The JSON Schemas of shapes, without what tells a language model nothing."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

Json = dict[str, Any]


def arguments_of(shape: type[BaseModel]) -> Json:
    """Return the schema of the arguments of a tool.

    An argument that may be null may be left out, so the schema names no null.
    """
    schema: Json = _without_null(_without_titles(shape.model_json_schema()))
    schema.pop("description", None)
    return {"properties": {}, **schema}


def answer_of(shape: type[BaseModel]) -> Json:
    """Return the schema of the answer of a tool."""
    schema: Json = _without_titles(shape.model_json_schema())
    return schema


def _without_titles(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_titles(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_titles(part) for key, part in node.items() if key != "title" or not isinstance(part, str)}


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(part) for part in node]
    if not isinstance(node, dict):
        return node
    found = {key: _without_null(part) for key, part in node.items() if key != "default" or part is not None}
    options = [option for option in found.pop("anyOf", ()) if option != {"type": "null"}]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **found} if options else found
