"""HTTP+JSON of the official protocol, 1.0. Source: A2A 1.0, HTTP+JSON binding."""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.dialects.a2a import answers, requests
from mailbox.dialects.a2a.calls import Version, version_of
from mailbox.dialects.a2a.errors import VersionNotSupportedError, rest_error
from mailbox.dialects.a2a.operations import OPERATIONS
from mailbox.dialects.a2a.view import VERSION, OfficialView
from mailbox.dialects.base import bodies
from mailbox.dialects.base.http_errors import PathNotFoundError
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import parse
from mailbox.words.errors import InvalidRequestError

TAG = "A2A by HTTP+JSON"
OFFICIAL_JSON, PLAIN_JSON = "application/a2a+json", "application/json"
BODY_ERRORS = (411, 413)  # another media type is an invalid request here
JSON_TYPES, STREAM_TYPES = (PLAIN_JSON, OFFICIAL_JSON), ("text/event-stream",)


class RestView(OfficialView):
    """A route of the HTTP+JSON binding."""

    is_rpc = False
    media_types = frozenset({OFFICIAL_JSON, PLAIN_JSON})

    def serve(self, name: str, **path: str) -> HttpResponseBase:
        """Run the operation of this name. ``path`` has the parameters that the path gives, which win over others."""
        official = self.official()
        if version_of(self.named_version()) != Version.V1_0:
            raise VersionNotSupportedError(f"This URL serves A2A 1.0. Send {VERSION}: 1.0.")
        call = self.call(official, Version.V1_0)
        given = self.request.query_params.dict() if self.request.method in ("GET", "DELETE") else self.json()
        if not isinstance(given, dict):
            raise InvalidRequestError({"body": "must be a JSON object"})
        operation = OPERATIONS[name]
        return self.run(call, operation, parse(operation.shape, given | path))

    def answer(self, result: object) -> Response:
        return Response({} if result is None else result, content_type=self.answer_type())

    def wrap(self, result: bytes) -> bytes:
        return result

    def answer_type(self) -> str:
        """Return the media type that the request names, as its body's type or as acceptable."""
        accepted = self.request.headers.get("Accept", "").lower()
        named = (bodies.media_type(self.request._request), *_types(accepted))
        return OFFICIAL_JSON if OFFICIAL_JSON in named else PLAIN_JSON

    def fault(self, error: Exception) -> object:
        return rest_error(error)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        response.content_type = self.answer_type()
        return response


def _types(accept: str) -> list[str]:
    return [one.partition(";")[0].strip() for one in accept.split(",")]


class SendView(RestView):
    @describe(
        summary="Send a message to the agent, and wait for its answer",
        tag=TAG,
        body=requests.SendMessageRequest,
        body_errors=BODY_ERRORS,
        answer=answers.SendMessageAnswer,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_send_message",
        media_types=JSON_TYPES,
    )
    def post(self, request: Request, **_: Any) -> HttpResponseBase:
        return self.serve("SendMessage")


class StreamView(RestView):
    @describe(
        summary="Send a message to the agent, and follow its task as a stream of server-sent events",
        tag=TAG,
        body=requests.SendMessageRequest,
        body_errors=BODY_ERRORS,
        answer=answers.StreamAnswer,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_send_streaming_message",
        media_types=STREAM_TYPES,
    )
    def post(self, request: Request, **_: Any) -> HttpResponseBase:
        return self.serve("SendStreamingMessage")


class OfficialTasksView(RestView):
    @describe(
        summary="List your tasks for the agent",
        tag=TAG,
        query=requests.ListTasksRequest,
        answer=answers.ListTasksAnswer,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_list_tasks",
        media_types=JSON_TYPES,
    )
    def get(self, request: Request, **_: Any) -> HttpResponseBase:
        return self.serve("ListTasks")


class OfficialTaskView(RestView):
    @describe(
        summary="Read one of your tasks for the agent",
        tag=TAG,
        answer=answers.TaskShown,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_get_task",
        media_types=JSON_TYPES,
    )
    def get(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("GetTask", id=task_id)


class CancelTaskView(RestView):
    @describe(
        summary="Cancel one of your tasks for the agent",
        tag=TAG,
        body=requests.NoParams,
        body_errors=BODY_ERRORS,
        answer=answers.TaskShown,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_cancel_task",
        media_types=JSON_TYPES,
    )
    def post(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("CancelTask", id=task_id)


class SubscribeView(RestView):
    @describe(
        summary="Follow one of your tasks as a stream of server-sent events",
        tag=TAG,
        answer=answers.StreamAnswer,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_subscribe_to_task",
        media_types=STREAM_TYPES,
    )
    def get(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("SubscribeToTask", id=task_id)

    @describe(
        summary="Follow one of your tasks as a stream of server-sent events",
        tag=TAG,
        body=requests.NoParams,
        body_errors=BODY_ERRORS,
        answer=answers.StreamAnswer,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_subscribe_to_task_by_post",
        media_types=STREAM_TYPES,
    )
    def post(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("SubscribeToTask", id=task_id)


class PushConfigsView(RestView):
    @describe(
        summary="List the receivers of a task's events",
        tag=TAG,
        query=requests.PageQuery,
        answer=answers.PushConfigPage,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_list_push_configs",
        media_types=JSON_TYPES,
    )
    def get(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("ListTaskPushNotificationConfigs", taskId=task_id)

    @describe(
        summary="Add a receiver of a task's events, or replace it",
        tag=TAG,
        body=requests.PushConfigFields,
        body_errors=BODY_ERRORS,
        answer=answers.PushConfigShown,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_create_push_config",
        media_types=JSON_TYPES,
    )
    def post(self, request: Request, task_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("CreateTaskPushNotificationConfig", taskId=task_id)


class PushConfigView(RestView):
    @describe(
        summary="Read a receiver of a task's events, without its credentials",
        tag=TAG,
        answer=answers.PushConfigShown,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_get_push_config",
        media_types=JSON_TYPES,
    )
    def get(self, request: Request, task_id: str, config_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("GetTaskPushNotificationConfig", taskId=task_id, id=config_id)

    @describe(
        summary="Delete a receiver of a task's events",
        tag=TAG,
        answer=answers.Nothing,
        refusal=answers.RestRefusal,
        errors=(403, 404),
        operation_id="a2a_delete_push_config",
        media_types=JSON_TYPES,
    )
    def delete(self, request: Request, task_id: str, config_id: str, **_: Any) -> HttpResponseBase:
        return self.serve("DeleteTaskPushNotificationConfig", taskId=task_id, id=config_id)


class ExtendedCardView(RestView):
    @describe(
        summary="Read the agent's extended card",
        tag=TAG,
        answer=answers.OfficialCard,
        refusal=answers.RestRefusal,
        errors=(404,),
        operation_id="a2a_get_extended_agent_card",
        media_types=JSON_TYPES,
    )
    def get(self, request: Request, **_: Any) -> HttpResponseBase:
        return self.serve("GetExtendedAgentCard")


class UnknownRouteView(RestView):
    """Answers in the binding's shape at a path that is none of its routes. It is no operation, so it has no schema."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise PathNotFoundError
