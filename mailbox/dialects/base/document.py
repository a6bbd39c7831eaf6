"""The last step of the OpenAPI document: texts and examples, and the forms that generators of clients read well.

Examples of whole bodies are made of the examples of their fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import TypeAdapter

from mailbox.dialects.base.bodies import AgentName, Content
from mailbox.dialects.base.openapi import CODES
from mailbox.dialects.base.texts import Text, Texts, all_texts, error_codes, table_of_codes
from mailbox.dialects.base.wire import COMPONENT

Json = dict[str, Any]
PREFIX = "#/components/schemas/"
DEEPEST = 8  # levels of shapes within shapes
SHARED: Any = tuple[Content, AgentName]  # shapes that are parts of others alone
USUAL_CODES = ("invalid_request", "capability_missing", "unknown_task", "lease_mismatch", "rate_limited")
BOUNDS = {"ge": "minimum", "le": "maximum"}
STREAM = "text/event-stream"


class NoExampleError(Exception):
    """A part of a schema has no example. The message is its path."""


def example_of(schema: Mapping[str, Any], components: Mapping[str, Json], path: str = "", level: int = 0) -> Any:
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
        return example_of(components[name], components, path or name, level + 1)
    if is_nullable(schema):
        return None
    options = schema.get("anyOf") or schema.get("oneOf")
    return (
        example_of(options[0], components, path, level)
        if options
        else _example_of_type(schema, components, path, level)
    )


def _example_of_type(schema: Mapping[str, Any], components: Mapping[str, Json], path: str, level: int) -> Any:
    match schema.get("type"):
        case "object" if "properties" in schema:
            fields = schema["properties"].items()
            made = {name: example_of(one, components, f"{path}.{name}", level) for name, one in fields}
            required = schema.get("required", ())
            return {name: value for name, value in made.items() if value is not None or name in required}
        case "array":
            return [example_of(schema["items"], components, f"{path}.0", level)] if schema.get("items") else []
        case "boolean":
            return True
        case "null":
            return None
    raise NoExampleError(path)


def is_nullable(schema: Mapping[str, Any]) -> bool:
    """Whether ``schema`` admits null beside other values."""
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))


def finish(result: Json, generator: object, request: object, public: bool) -> Json:
    """Return the document with its texts and examples. A hook of drf-spectacular, which gives the other arguments."""
    texts, components = all_texts(), result["components"]["schemas"]
    _add_shared(result)
    _resolve_aliases(result)
    for name, schema in components.items():
        _describe_component(schema, texts.shapes.get(name, {}).get(""))
        for key, part in schema.get("properties", {}).items():
            _describe(part, texts.of_field(name, key))
            _tell_default(part)
        _tidy(schema)
    for operations in result["paths"].values():
        for operation in operations.values():
            _describe_operation(operation, texts, components)
    result["info"]["description"] += f"\n\n## Errors\n\n{table_of_codes(error_codes())}"
    return result


def _add_shared(result: Json) -> None:
    """Add the components of `SHARED`, and let the parts that name them refer to them."""
    for part in _parts_of(result):
        if COMPONENT in part:
            part["$ref"] = PREFIX + part.pop(COMPONENT)
    made: Json = TypeAdapter(SHARED).json_schema(ref_template=f"{PREFIX}{{model}}")
    for name, schema in made["$defs"].items():
        result["components"]["schemas"].setdefault(name, schema)


def _resolve_aliases(result: Json) -> None:
    """Let each reference to a component that is only another's name lead to that other component."""
    components = result["components"]["schemas"]
    aliases = {PREFIX + name: schema["$ref"] for name, schema in components.items() if "$ref" in schema}
    for name in [ref.removeprefix(PREFIX) for ref in aliases]:
        del components[name]
    for part in _parts_of(result):
        while part.get("$ref") in aliases:
            part["$ref"] = aliases[part["$ref"]]


def _parts_of(value: object) -> Iterator[Json]:
    """Yield every object of the document."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts_of(part)


def _describe_component(schema: Json, text: Text | None) -> None:
    if text is not None:
        _describe(schema, text)
    if "description" in schema:
        schema["description"] = _markdown(schema["description"])


def _describe(schema: Json, text: Text | None) -> None:
    if text is not None:
        schema["description"] = text.text
        if text.example:
            schema["examples"] = list(text.example)


def _markdown(docstring: str) -> str:
    """Return a docstring as Markdown: one line a paragraph, and code between single marks."""
    paragraphs = docstring.replace("``", "`").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _tidy(schema: Json) -> None:
    """Leave out titles, which repeat names. Write bounds as JSON Schema does.

    pydantic writes the bounds of a value that it converts as ``ge`` and ``le``.
    """
    if isinstance(schema.get("title"), str):
        del schema["title"]
    for name, bound in BOUNDS.items():
        if name in schema:
            schema[bound] = schema.pop(name)
    for one in _schemas_in(schema):
        _tidy(one)


def _tell_default(field: Json) -> None:
    """Move the default of a field of a body into its description. Generators take it for a value to send."""
    default = field.pop("default", None)
    if default:
        field["description"] = f"{field.get('description', '')} Default: {default}."


def _schemas_in(schema: Json) -> Iterator[Json]:
    """Yield the schemas of which ``schema`` is made."""
    yield from schema.get("properties", {}).values()
    yield from (schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield from schema.get(key, ())


def _describe_operation(operation: Json, texts: Texts, components: dict[str, Json]) -> None:
    text = texts.of_operation(operation["operationId"])
    if text is not None:
        operation["description"] = text.text
    if operation.get("security") == [{}]:
        operation["security"] = []
    for parameter in operation.get("parameters", ()):
        _describe_parameter(parameter, texts)
    _describe_request(operation.get("requestBody", {}), components)
    for status, response in operation["responses"].items():
        own = text.example if text is not None and int(status) < HTTPStatus.BAD_REQUEST else ()
        for media_type, media in response.get("content", {}).items():
            _give_example(media, components, own, is_stream=media_type == STREAM)
        _describe_response(int(status), response, operation, components, texts)


def _describe_request(body: Json, components: dict[str, Json]) -> None:
    """Add examples, and whether the body may be left out: an absent body reads as an empty object."""
    for media in body.get("content", {}).values():
        _give_example(media, components)
        shape = components[media["schema"]["$ref"].removeprefix(PREFIX)]
        body["required"] = "properties" not in shape or bool(shape.get("required"))


def _give_example(
    media: Json, components: dict[str, Json], own: tuple[Any, ...] = (), *, is_stream: bool = False
) -> None:
    """Add an example: ``own``, or one made of those of the fields. A stream is described as text.

    The shape that a view names for a stream is that of the data of each event.
    """
    with suppress(NoExampleError):
        media["example"] = own[0] if own else example_of(media["schema"], components)
    if is_stream:
        text = "Server-sent events. The data of each is JSON of this shape."
        media["schema"] = {"type": "string", "description": text, "contentSchema": media["schema"]}
        media["example"] = f"id: 1\ndata: {orjson.dumps(media.get('example')).decode()}\n\n"


def _describe_parameter(parameter: Json, texts: Texts) -> None:
    _tidy(parameter["schema"])
    text = texts.parameters.get(parameter["name"])
    if text is not None:
        parameter.setdefault("description", text.text)
        if text.example:
            parameter["example"] = text.example[0]


def _describe_response(status: int, response: Json, operation: Json, components: dict[str, Json], texts: Texts) -> None:
    """Describe a response by the component of its body, and an error by its codes."""
    shapes = [media["schema"] for media in response.get("content", {}).values()]
    refs = [shape.get("contentSchema", shape).get("$ref", "") for shape in shapes]
    if status < HTTPStatus.BAD_REQUEST:
        if not shapes:
            response["description"] = "The request is accepted, and there is no answer."
            return
        described = components.get(refs[0].removeprefix(PREFIX), {}).get("description")
        response["description"] = (described or f"{operation['summary']}.").split("\n\n")[0]
        return
    response["description"] = texts.statuses[str(status)]
    if listed := response.get(CODES):
        response["description"] += f" Codes with this status: {', '.join(f'`{code}`' for code in listed)}."
        code = next((code for code in USUAL_CODES if code in listed), listed[0])
        message = next((row.meaning for row in error_codes() if row.code == code), response["description"])
        for media in response["content"].values():
            media["example"] = {"kind": "error", "code": code, "message": message}
