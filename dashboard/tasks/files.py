"""The payloads of one task: whole parts, pictures and sounds, and the whole task as JSON.

A request may ask for a range of the bytes of a response, by which a player seeks in a sound.

Source: RFC 9110, "Range Requests".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.decorators import method_decorator

from dashboard.base.page import DashboardView, present
from dashboard.wording import payload
from mailbox.access.callers import Caller
from mailbox.dialects.base.bodies import JSONRenderer
from mailbox.dialects.covenant import wire
from mailbox.inspection import answers, journal, task_events, tasks
from mailbox.models import Result, Task
from mailbox.words import content, json_text
from mailbox.words.a2a import v1_0

_RANGE = re.compile(r"bytes=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*", re.ASCII | re.IGNORECASE)
_OF_A_ROW = re.compile(r"(message|artifact)-([1-9][0-9]{0,8})(?:-(0|[1-9][0-9]{0,8}))?", re.ASCII)


def cut(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Cut the content of a response of 200 to the range that the request asks for; return the response.

    The status is then 206, or 416 without content for a range behind the end. The response stays whole for several
    ranges, for a malformed range, and for a method other than GET. It stays whole for a request with If-Range too,
    since the response has no validator that could match.
    """
    response["Accept-Ranges"] = "bytes"
    bounds = _RANGE.fullmatch(request.headers.get("Range", ""))
    if bounds is None or request.method != "GET" or "If-Range" in request.headers:
        return response
    size = len(response.content)
    places = _range(bounds[1], bounds[2], size)
    if places is None:
        return response
    if places:
        response.status_code, named = HTTPStatus.PARTIAL_CONTENT, f"{places.start}-{places.stop - 1}"
    else:
        response.status_code, named = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "*"
    response.content = response.content[places.start : places.stop]
    response["Content-Range"] = f"bytes {named}/{size}"
    return response


def _range(first: str, last: str, size: int) -> range | None:
    """Return the places of these bytes among ``size`` bytes, an empty range behind the end; None if malformed.

    Without ``first``, ``last`` is the number of bytes at the end.
    """
    if not first:
        return range(max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)


class TaskPart(DashboardView):
    """A whole part of the payload of a task, a message, an artifact or a result."""

    def get(self, request: HttpRequest, task_id: UUID, part: str) -> HttpResponse:
        file = _file(self.caller, task_id, part)
        return _response(file, file.content_type, "inline" if file.is_shown else "attachment")


class TaskMedia(DashboardView):
    """A picture or a sound among these parts, under the media type of its bytes. It cannot run.

    A request for a range of its bytes gets that range, so that a player can seek.
    """

    def get(self, request: HttpRequest, task_id: UUID, part: str) -> HttpResponse:
        file = _file(self.caller, task_id, part)
        if not file.media_type:
            raise Http404
        whole = self._picture(file) if file.is_picture else self._sound(file)
        return cut(request, whole)

    @method_decorator(csp_update({"sandbox": True}))
    def _picture(self, file: payload.File) -> HttpResponse:
        return _response(file, file.media_type, "inline")

    @method_decorator(csp_update({"sandbox": ["allow-same-origin"], "media-src": [SELF]}))
    def _sound(self, file: payload.File) -> HttpResponse:
        """Return a sound that the browser's player may load. Scripts stay forbidden."""
        return _response(file, file.media_type, "inline")


class TaskForClients(DashboardView):
    """A task as GetTask of the official protocol answers it to its sender, in version 1.0."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        task = tasks.task(self.caller, task_id).task
        file = payload.json_file(v1_0.task(task_events.view_of(task)), f"task-{task_id}-a2a.json")
        return _response(file, file.content_type, "inline")


class TaskJson(DashboardView):
    """A task with its conversation, its artifacts, its result and its journal as JSON."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponseBase:
        entry = tasks.task(self.caller, task_id)
        result = tasks.result(self.caller, task_id)
        head = {
            "entry": wire.queue_entry(entry),
            "metadata": json_text.loads(entry.task.metadata),
            "result": wire.result(result) if result else None,
        }
        response = StreamingHttpResponse(_whole(head, entry.task), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="task-{task_id}.json"'
        return response


def _file(caller: Caller, task_id: UUID, part: str) -> payload.File:
    """Return a part of a task by its name."""
    task = tasks.task(caller, task_id).task
    of_a_row = _OF_A_ROW.fullmatch(part)
    if of_a_row is None:
        return _part(task, tasks.result(caller, task_id), part)
    what, seq, block = of_a_row.groups()
    blocks = blocks_of_message(task, int(seq)) if what == "message" else blocks_of_artifact(task, int(seq))
    return _of_blocks(blocks, block, f"task-{task.uuid}-{part}")


def _response(file: payload.File, content_type: str, how: str) -> HttpResponse:
    response = HttpResponse(file.content, content_type=content_type)
    response["Content-Disposition"] = f'{how}; filename="{file.name}"'
    return response


def _whole(head: Mapping[str, Any], task: Task) -> Iterator[bytes]:
    """Yield the JSON object ``head`` with three further keys: the messages, the artifacts and the journal."""
    yield _json(head)[:-1]
    for name, rows in (("messages", _messages(task)), ("artifacts", _artifacts(task)), ("journal", _journal(task))):
        yield f',"{name}":['.encode()
        for number, row in enumerate(rows):
            yield (b"," if number else b"") + _json(row)
        yield b"]"
    yield b"}"


def _messages(task: Task) -> Iterator[Mapping[str, Any]]:
    for one in tasks.every_message(task):
        named = {"message_id": one.message_id} if one.message_id else {}
        message = {"seq": one.seq, "role": one.role, "at": one.said_at.isoformat(), "content": one.blocks}
        yield {**message, **named, **one.details}


def _artifacts(task: Task) -> Iterator[Mapping[str, Any]]:
    produced = answers.produced_artifacts(task)
    details = answers.artifact_details(task, produced)
    for one in produced:
        facts = {"artifact_id": one.artifact_id, "seq": one.seq, "is_complete": one.is_complete}
        yield {**facts, **details[one.seq], "content": list(answers.blocks_of(task, one))}


def _journal(task: Task) -> Iterator[Mapping[str, Any]]:
    for event in journal.all_about(task.uuid):
        yield {"kind": event.kind, "actor": event.actor, "at": event.at.isoformat(), "data": event.fields}


def _json(value: object) -> bytes:
    rendered: bytes = JSONRenderer().render(value)
    return rendered


def blocks_of_message(task: Task, seq: int) -> Iterable[Mapping[str, Any]]:
    """Return the content of a message by its number; raise `Http404` without one."""
    return present(tasks.message(task, seq)).blocks


def blocks_of_artifact(task: Task, seq: int) -> Iterable[Mapping[str, Any]]:
    """Return the content of an artifact by the number of its first row; raise `Http404` without one."""
    return content.joined(answers.blocks_of(task, present(answers.placed_at(task, seq))))


def _of_blocks(blocks: Iterable[Mapping[str, Any]], number: str | None, name: str) -> payload.File:
    """Return one of the blocks as a file, or all of them: a single block as itself, several as JSON."""
    every = list(blocks)
    if number is not None:
        if int(number) >= len(every):
            raise Http404
        return payload.file_of(every[int(number)], name)
    return payload.file_of(every[0], name) if len(every) == 1 else payload.json_file(every, f"{name}.json")


def _part(task: Task, result: Result | None, part: str) -> payload.File:
    name = f"task-{task.uuid}-{part}"
    match part:
        case "intent":
            return payload.text_file(task.intent_text, f"{name}.txt")
        case "metadata":
            return payload.json_file(json_text.loads(task.metadata), f"{name}.json")
        case "error" if result is not None and result.error_message is not None:
            return payload.text_file(result.error_message, f"{name}.txt")
        case "content" if result is not None:
            return payload.json_file(result.blocks, f"{name}.json")
    blocks = result.blocks if result is not None else []
    if not part.isdecimal() or len(part) > len(str(len(blocks))) or int(part) >= len(blocks):
        raise Http404
    return payload.file_of(blocks[int(part)], name)
