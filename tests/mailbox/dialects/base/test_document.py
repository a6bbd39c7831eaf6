"""The OpenAPI document helps its readers, and the generators of clients, with every one of its parts."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel

from a2aproject.settings.edge import TAGS
from mailbox.dialects.base import texts as texts_
from mailbox.dialects.base.document import PREFIX
from mailbox.dialects.base.texts import Text
from mailbox.words import content
from tests.support.api import schema
from tools.lint import prose

pytestmark = pytest.mark.one_database

Json = dict[str, Any]
COMPONENTS: dict[str, Json] = schema()["components"]["schemas"]
OPERATIONS: list[tuple[str, Json]] = [
    (path, operation) for path, methods in schema()["paths"].items() for operation in methods.values()
]


def fields() -> Iterator[tuple[str, str, Json]]:
    """Yield each field of a body or an answer: its component, its name and its schema."""
    for component, shape in COMPONENTS.items():
        yield from ((component, name, field) for name, field in shape.get("properties", {}).items())


def parameters() -> Iterator[tuple[str, Json]]:
    """Yield each parameter with the id of its operation."""
    for _, operation in OPERATIONS:
        yield from ((operation["operationId"], parameter) for parameter in operation.get("parameters", ()))


def bodies() -> Iterator[tuple[str, Json]]:
    """Yield the content of each request and response, with the id of its operation."""
    for _, operation in OPERATIONS:
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            yield from ((operation["operationId"], media) for media in part.get("content", {}).values())


def parts(value: object) -> Iterator[Json]:
    """Yield each object in a schema, itself included."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


def has_example(field: Json) -> bool:
    """Whether a reader sees a value of the field: its own example, its choices, or those of its parts."""
    if {"examples", "enum", "const", "$ref"} & field.keys() or field.get("type") in ("boolean", "null"):
        return True
    options: list[Json] = (
        [field["items"]] if field.get("type") == "array" else field.get("anyOf") or field.get("oneOf", [])
    )
    return bool(options) and all(map(has_example, options))


@cache
def validator(ref: str) -> Any:
    return jsonschema_rs.validator_for({"$ref": ref, "components": {"schemas": COMPONENTS}})


def problems(shape: Json, value: object) -> list[str]:
    """Return why ``value`` is not of the shape."""
    its = validator(shape["$ref"]) if shape.keys() == {"$ref"} else None
    its = its or jsonschema_rs.validator_for({**shape, "components": {"schemas": COMPONENTS}})
    return [error.message for error in its.iter_errors(value)]


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_every_part_is_described() -> None:
    bare = [name for name, shape in COMPONENTS.items() if not shape.get("description", "").strip()]
    bare += [f"{component}.{name}" for component, name, field in fields() if not field.get("description", "").strip()]
    bare += [f"{of}?{one['name']}" for of, one in parameters() if not one.get("description", "").strip()]
    bare += [
        one["operationId"] for _, one in OPERATIONS if not (one["summary"] and one["tags"] and one.get("description"))
    ]
    bare += [
        f"{one['operationId']} {status}"
        for _, one in OPERATIONS
        for status, response in one["responses"].items()
        if not response["description"]
    ]

    assert bare == []


def test_every_part_has_an_example() -> None:
    without = [f"{component}.{name}" for component, name, field in fields() if not has_example(field)]
    without += [f"{of}?{one['name']}" for of, one in parameters() if "example" not in one]
    without += [of for of, media in bodies() if "example" not in media]

    assert without == []


@pytest.mark.deep
def test_every_example_is_of_its_shape() -> None:
    wrong = [
        f"{component}.{name}: {problem}"
        for component, name, field in fields()
        for example in field.get("examples", ())
        for problem in problems(field, example)
    ]
    wrong += [
        f"{name}: {problem}"
        for name, shape in COMPONENTS.items()
        for example in shape.get("examples", ())
        for problem in problems(shape, example)
    ]
    wrong += [
        f"{of}?{one['name']}: {why}" for of, one in parameters() for why in problems(one["schema"], one["example"])
    ]
    wrong += [f"{of}: {why}" for of, media in bodies() for why in problems(media["schema"], media["example"])]

    assert wrong == []


def shapes_of(base: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    for shape in base.__subclasses__():
        yield shape
        yield from shapes_of(shape)


def test_every_example_of_a_request_is_read_by_its_shape() -> None:
    by_name = {shape.__name__: shape for shape in shapes_of() if shape.__module__.startswith("mailbox.dialects.")}
    requests = [one["requestBody"]["content"].values() for _, one in OPERATIONS if "requestBody" in one]
    medias = [media for content in requests for media in content]

    for media in medias:
        by_name[media["schema"]["$ref"].removeprefix(PREFIX)].model_validate(media["example"])
    assert len(medias) > 50


def test_no_field_of_a_body_has_a_default_and_no_schema_has_a_title() -> None:
    """Generators send defaults, require fields that have one, and name types by titles."""
    schemas = [part for part in parts(COMPONENTS) if "type" in part or "anyOf" in part or "$ref" in part]

    assert [part for part in schemas if "default" in part] == []
    assert [part for part in schemas if isinstance(part.get("title"), str)] == []
    assert [one for _, one in parameters() if one["schema"].get("default", 0) is None] == []


def test_schemas_have_the_words_of_json_schema_alone() -> None:
    schemas = [*COMPONENTS.values(), *(one["schema"] for _, one in parameters())]

    assert [part for part in parts(schemas) if {"ge", "le", "x-component"} & part.keys()] == []


def test_every_object_is_a_component_with_a_name_that_is_none_of_its_fields() -> None:
    inner = [
        f"{component}.{name}" for component, name, field in fields() for part in parts(field) if "properties" in part
    ]

    assert inner == []
    assert [f"{component}.{name}" for component, name, _ in fields() if snake(component) == name] == []
    assert [name for name, shape in COMPONENTS.items() if "$ref" in shape] == []
    assert len({name.lower() for name in COMPONENTS}) == len(COMPONENTS)


def test_content_blocks_are_told_apart_by_their_type() -> None:
    union = COMPONENTS["ContentBlock"]
    mapping = union["discriminator"]["mapping"]
    shapes = {kind: COMPONENTS[ref.removeprefix(PREFIX)] for kind, ref in mapping.items()}

    assert union["discriminator"]["propertyName"] == "type"
    assert [one["$ref"] for one in union["oneOf"]] == [mapping[kind] for kind in content.REQUIRED]
    assert {kind: set(shape["required"]) for kind, shape in shapes.items()} == {
        kind: {"type", *keys} for kind, keys in content.REQUIRED.items()
    }
    for component, name in (("ResultBody", "content"), ("WireResult", "content"), ("WireMessage", "content")):
        assert COMPONENTS[component]["properties"][name]["items"] == {"$ref": f"{PREFIX}ContentBlock"}


def test_a_body_is_required_unless_an_empty_object_will_do() -> None:
    required = {one["operationId"]: one["requestBody"]["required"] for _, one in OPERATIONS if "requestBody" in one}

    assert (required["send_task"], required["tasks_send"], required["mcp"]) == (True, True, True)
    assert (required["lease_next_task"], required["cancel_task"], required["compact"]) == (False, False, False)


def test_operations_are_named_by_hand() -> None:
    ids = [operation["operationId"] for _, operation in OPERATIONS]

    assert [name for name in ids if not re.fullmatch(r"[a-z][a-z0-9_]*", name)] == []
    assert [name for name in ids if re.search(r"_(retrieve|create|update|partial_update|destroy)(_\d+)?$", name)] == []


def test_tags_are_described_in_the_order_of_the_reader() -> None:
    used = {tag for _, operation in OPERATIONS for tag in operation["tags"]}

    assert [tag["name"] for tag in schema()["tags"]] == list(TAGS)
    assert used == set(TAGS)
    assert list(TAGS)[:3] == ["tasks", "one task", "results"]


def test_the_document_names_its_server_its_license_and_its_codes(settings: Any) -> None:
    info = schema()["info"]

    assert [server["url"] for server in schema()["servers"]] == [settings.PUBLIC_URL]
    assert info["license"] == {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
    assert "| `lease_mismatch` | 409 |" in info["description"]


def test_an_error_of_the_mailbox_lists_its_codes() -> None:
    refused = schema()["paths"]["/a2a/inboxes/{agent}/tasks/{task_id}/accept"]["post"]["responses"]["403"]

    assert refused["x-codes"] == [
        *("capability_missing", "capability_scope_mismatch", "not_an_agent", "not_your_inbox", "sender_mismatch")
    ]
    assert "`not_your_inbox`" in refused["description"]
    (media,) = refused["content"].values()
    assert media["example"]["code"] == "capability_missing"


def test_another_media_type_is_an_invalid_request_by_http_and_json() -> None:
    statuses = {
        operation["operationId"]: operation["responses"].keys()
        for _, operation in OPERATIONS
        if operation["tags"] == ["A2A by HTTP+JSON"] and "requestBody" in operation
    }

    assert len(statuses) >= 6
    assert [name for name, listed in statuses.items() if "415" in listed or "413" not in listed] == []


def test_a_stream_is_text_with_an_event_of_the_named_shape() -> None:
    (answer,) = schema()["paths"]["/agents/{agent}/rest/message:stream"]["post"]["responses"]["200"]["content"].values()

    assert (answer["schema"]["type"], answer["schema"]["contentSchema"]) == (
        "string",
        {"$ref": f"{PREFIX}StreamMembers"},
    )
    assert answer["example"].startswith("id: 1\ndata: {")


def test_no_text_describes_what_the_document_lacks() -> None:
    texts = texts_.all_texts()
    names = {name for _, name, _ in fields()}
    known = {(component, name) for component, name, _ in fields()} | {(name, "") for name in COMPONENTS}
    ids = {operation["operationId"] for _, operation in OPERATIONS}

    assert texts.fields.keys() - names == set()
    assert {(shape, name) for shape, its in texts.shapes.items() for name in its} - known == set()
    assert texts.parameters.keys() - {one["name"] for _, one in parameters()} == set()
    assert texts.operations.keys() - ids == set()


def test_the_texts_keep_the_rule_of_prose() -> None:
    texts = texts_.all_texts()
    groups: tuple[Mapping[str, Text], ...] = (texts.fields, texts.parameters, texts.operations, *texts.shapes.values())

    assert [fault for group in groups for one in group.values() for fault in prose.faults(one.text)] == []


def test_a_text_of_two_files_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / texts_.FILE).write_text('[fields]\nid = ["The id.", 7]\n')
    monkeypatch.setattr(texts_, "DIALECTS", tmp_path)

    with pytest.raises(ValueError, match="describes what another file describes: id"):
        texts_.all_texts.__wrapped__()
    (tmp_path / "two" / texts_.FILE).unlink()
    assert texts_.all_texts.__wrapped__().fields == {"id": Text(text="The id.", example=(7,))}
