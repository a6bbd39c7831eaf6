"""The OpenAPI description of views, made from the shapes that parse their requests."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from mailbox.dialects.base import http_errors

Shape = type[BaseModel] | type[Mapping[str, Any]]
View = TypeVar("View", bound=Callable[..., Any])

ERROR = {"$ref": "#/components/schemas/ErrorBody"}
CODES = "x-codes"  # of a response: the codes of its errors
NO_KEY: Any = [{}]  # the security of an operation that needs no key: an empty list would mean the document's own
ATTEMPT_HEADER = OpenApiParameter(
    "A2A-Receive-Attempt-Id",
    {"type": "string", "format": "uuid"},
    OpenApiParameter.HEADER,
    description=(
        "Names this receive. The same id gets the same answer, so a lost response costs nothing. Keep the id until it "
        "has brought something, also after an empty answer. Then use a new id. An id is spent once its "
        "leases have ended or its results were acknowledged. A receive under a spent id returns nothing. "
        "The answers of the mailbox then have `attempt_spent`."
    ),
)


class ErrorBody(BaseModel):
    """An error. Decide by ``code``; ``message`` is for people. The ids it concerns are further keys."""

    kind: str = "error"
    code: str
    message: str
    fields: dict[str, str] | None = None


class TypedDictExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Describes an answer whose shape is a TypedDict, as drf-spectacular describes pydantic's models."""

    @classmethod
    def _matches(cls, target: object) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> str:
        """Return the name, so that an answer that is also a part of another is one component."""
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        ref = "#/components/schemas/{model}"
        schema = TypeAdapter(self.target).json_schema(ref_template=ref, mode="serialization")
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(name, "schemas", part, name)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        return schema


class RouteSchema(AutoSchema):
    """Describes routes by `describe` alone. Docstrings of views are for readers of the code."""

    def get_description(self) -> str:  # type: ignore[override]
        return ""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation. A view that serves several routes names each by its ``operation_suffix``.

        Each response of an `ErrorBody` lists its codes under `CODES`.
        """
        view: Any = self.view
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation["operationId"] += view.operation_suffix
            for status, response in operation["responses"].items():
                if any(media["schema"] == ERROR for media in response.get("content", {}).values()):
                    response[CODES] = http_errors.codes_of(int(status), view.error_status)
        return operation


def describe(
    *,
    answer: Shape | None,
    summary: str,
    tag: str,
    refusal: Shape = ErrorBody,
    body: type[BaseModel] | None = None,
    query: type[BaseModel] | None = None,
    headers: tuple[OpenApiParameter, ...] = (),
    errors: tuple[int, ...] = (),
    body_errors: tuple[int, ...] = (411, 413, 415),
    operation_id: str,
    status: int = 200,
    public: bool = False,
    media_types: tuple[str, ...] = ("application/json",),
    accepts: bool = False,
) -> Callable[[View], View]:
    """Describe one method of a view by its shapes.

    ``answer`` None is Markdown. ``status`` is the status of success. ``errors`` are the statuses of errors, without
    those that every route shares, and ``body_errors`` those of a body that is not read. ``public`` routes need no key.
    ``media_types`` are those of the answer. ``accepts``: some requests get 202 and no body.
    """
    shared = (429, 503) if public else (400, 401, 429, 503)
    refusals: Mapping[int, Shape] = dict.fromkeys(sorted({*shared, *(body_errors if body else ()), *errors}), refusal)
    return extend_schema(
        summary=summary,
        tags=[tag],
        request=body,
        responses={**_answers(status, answer, media_types), **({202: None} if accepts else {}), **refusals},
        parameters=[*headers, *(parameters_of(query) if query else ())],
        operation_id=operation_id,
        auth=NO_KEY if public else None,
    )


def _answers(status: int, answer: Shape | None, media_types: tuple[str, ...]) -> Mapping[Any, Any]:
    if answer is None:
        return {(status, "text/markdown"): str}
    return {(status, media_type): answer for media_type in media_types}


def parameters_of(query: type[BaseModel]) -> list[OpenApiParameter]:
    """Return one query parameter per field of ``query``."""
    described = query.model_json_schema(mode="validation")
    required = described.get("required", [])
    return [
        OpenApiParameter(name, _plain(schema), OpenApiParameter.QUERY, required=name in required)
        for name, schema in described.get("properties", {}).items()
    ]


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is present. A query parameter that may be null may be absent."""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    kept = dict(options[0])
    for name in ("title", "default"):
        kept.pop(name, None)
    if schema.get("default") is not None:
        kept["default"] = schema["default"]
    return kept
