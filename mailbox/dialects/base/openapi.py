"""The operations of views: what they read and answer, and their descriptions in the OpenAPI document."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, TypeAdapter
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import is_typeddict

from mailbox.dialects.base import http_errors
from mailbox.dialects.base.texts import all_texts

Shape = type[BaseModel] | type[Mapping[str, Any]]
Handler = Callable[..., HttpResponseBase]

ERROR = {"$ref": "#/components/schemas/ErrorBody"}
CODES = "x-codes"  # of a response: the codes of its errors
NO_KEY: Any = [{}]  # the security of an operation that needs no key: an empty list would mean the document's own
ATTEMPT_HEADER = OpenApiParameter(
    "A2A-Receive-Attempt-Id", {"type": "string", "format": "uuid"}, OpenApiParameter.HEADER
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
    """Describes routes by `operation` and the texts alone. Docstrings of views are for readers of the code."""

    def get_description(self) -> str:  # type: ignore[override]
        return ""

    def get_summary(self) -> str | None:
        text = all_texts().of_operation(self.get_operation_id())
        return text.summary if text else None

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation. A view that serves several routes names each by its ``operation_suffix``.

        Each response of an `ErrorBody` lists its codes under `CODES`.
        """
        view: Any = self.view
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            text = all_texts().of_operation(operation["operationId"])
            operation = {"summary": "", **operation, "tags": [text.tag] if text else []}  # also without a text
            operation["operationId"] += view.operation_suffix
            for status, response in operation["responses"].items():
                if any(media["schema"] == ERROR for media in response.get("content", {}).values()):
                    response[CODES] = http_errors.codes_of(int(status), view.error_status)
        return operation


def operation(
    name: str,
    *,
    answer: Shape | type[str] | None = None,
    body: type[BaseModel] | None = None,
    query: type[BaseModel] | None = None,
    headers: tuple[OpenApiParameter, ...] = (),
    errors: tuple[int, ...] = (),
    body_errors: tuple[int, ...] = (411, 413, 415),
    refusal: Shape = ErrorBody,
    status: int = 200,
    public: bool = False,
    media_types: tuple[str, ...] = ("application/json",),
    accepts: bool = False,
) -> Callable[[Callable[..., object]], Handler]:
    """Let one method of a view serve an operation, and describe it by the shapes that the method is annotated with.

    The method gets the parameters of the path. If it has a parameter ``body`` or ``query``, it gets that part of the
    request as its shape. It returns the answer, or a whole response. ``answer``, ``body`` and ``query`` name shapes
    that the method does not. An ``answer`` that is text is Markdown.

    ``status`` is the status of success. ``errors`` are the statuses of errors, without those that every route shares,
    and ``body_errors`` those of a body that is not read. ``public`` operations need no key. ``media_types`` are those
    of the answer. ``accepts``: some requests get 202 and no body.
    """

    def served(method: Callable[..., object]) -> Handler:
        shapes = inspect.get_annotations(method, eval_str=True)
        body_shape, query_shape = body or shapes.get("body"), query or shapes.get("query")
        answer_shape = answer or shapes["return"]
        kinds = ("text/markdown",) if answer_shape is str else media_types
        shared = (*((429, 503) if public else (400, 401, 429, 503)), *(body_errors if body_shape else ()))
        return extend_schema(
            operation_id=name,
            request=body_shape,
            responses={
                **{(status, kind): answer_shape for kind in kinds},
                **({202: None} if accepts else {}),
                **dict.fromkeys(sorted({*shared, *errors}), refusal),
            },
            parameters=[*headers, *(parameters_of(query_shape) if query_shape else ())],
            auth=NO_KEY if public else None,
        )(_handler(method, {part: shapes[part] for part in ("query", "body") if part in shapes}, status))

    return served


def _handler(method: Callable[..., object], read: Mapping[str, type[BaseModel]], status: int) -> Handler:
    """Return ``method`` as DRF calls it. ``read`` are the parts of the request that the method gets."""

    def handler(view: Any, request: Request, **arguments: Any) -> HttpResponseBase:
        for part, shape in read.items():
            arguments[part] = getattr(view, part)(shape)
        result = method(view, **arguments)
        return result if isinstance(result, HttpResponseBase) else Response(result, status)

    return handler


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
