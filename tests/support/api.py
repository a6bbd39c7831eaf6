"""A client of the API for one caller. It checks each answer against the OpenAPI document."""

import functools
import json
import re
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import jsonschema_rs
from django.conf import settings
from django.test import Client
from django.urls import Resolver404, resolve
from drf_spectacular.generators import SchemaGenerator

from mailbox.access.callers import Caller
from tests.support import factories


class Api:
    """Sends requests with a key of the caller and with ``headers``. ``prefix`` is the path of a public route."""

    def __init__(
        self, caller: Caller | None = None, *, headers: dict[str, str] | None = None, prefix: str = ""
    ) -> None:
        key = {"Authorization": f"Bearer {factories.key_of(caller)}"} if caller else {}
        self._client = Client(headers=key | (headers or {}))
        self.prefix = prefix

    def get(self, path: str, *, headers: dict[str, str] | None = None, **query: Any) -> Any:
        return self.call("GET", path, query=query, headers=headers)

    def post(self, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Any:
        return self.call("POST", path, body, headers=headers)

    def put(self, path: str, body: Any = None) -> Any:
        return self.call("PUT", path, body)

    def delete(self, path: str) -> Any:
        return self.call("DELETE", path)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
        **extra: Any,
    ) -> Any:
        """Send ``body``, text and bytes as they are and other values as JSON; return the response."""
        raw = b"" if body is None else body if isinstance(body, str | bytes) else json.dumps(body)
        response = self._client.generic(
            method, self.prefix + path, raw, content_type, query_params=query or None, headers=headers, **extra
        )
        assert_as_documented(method, path.partition("?")[0], response)
        return response


def answered(response: Any) -> tuple[int, Any]:
    """Return the status and the JSON of a response."""
    return response.status_code, response.json()


def task_to(recipient: Caller, **fields: Any) -> dict[str, Any]:
    """Return the JSON of a task with an id of its own."""
    return {"id": str(uuid4()), "recipient": str(recipient.agent), "intent_text": "summarise the report", **fields}


def error_of(response: Any) -> tuple[int, str]:
    """Return status and code of an error, after checking that its body has the hub's shape of errors."""
    body = response.json()
    assert response["Content-Type"] == "application/json"
    assert body["kind"] == "error"
    assert isinstance(body["message"], str)
    assert body["message"]
    assert ("fields" in body) == (body["code"] == "invalid_request"), body
    return response.status_code, body["code"]


def schema() -> dict[str, Any]:
    """Return the OpenAPI document of the current URL configuration."""
    return _schema(settings.ROOT_URLCONF)


@functools.cache
def _schema(urlconf: str) -> dict[str, Any]:
    document = SchemaGenerator(urlconf=urlconf).get_schema(public=True)
    return json.loads(json.dumps(document, default=str))  # type: ignore[no-any-return]


def template_of(path: str) -> str:
    """Return the path's route as the OpenAPI document writes it."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", resolve(path).route)


@functools.cache
def _validator(urlconf: str, name: str) -> Any:
    components = _schema(urlconf)["components"]
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": components})


def assert_as_documented(method: str, path: str, response: Any) -> None:
    if response.streaming:
        return
    try:
        operation = schema()["paths"].get(template_of(path), {}).get(method.lower())
    except Resolver404:
        return
    if operation is None or not response.content or response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return  # a public route lacks operations that the document has
    documented = operation["responses"]
    assert str(response.status_code) in documented, (method, path, response.status_code, response.content)
    content = documented[str(response.status_code)]["content"]
    media_type = response["Content-Type"].partition(";")[0]
    assert media_type in content, (method, path, media_type)
    if media_type != "application/json":
        return
    name = content[media_type]["schema"]["$ref"].rpartition("/")[2]
    problems = [error.message for error in _validator(settings.ROOT_URLCONF, name).iter_errors(response.json())]
    assert problems == [], (method, path, response.content)
