"""The handler remembers the views of the last paths, and answers as Django's own."""

from contextlib import nullcontext

import pytest
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.http.request import HttpHeaders
from django.test import RequestFactory

from a2aproject.web import handler
from mailbox.dialects.base import bodies

pytestmark = pytest.mark.one_database


@pytest.fixture
def resolved(monkeypatch):
    """Return a list of the paths for which Django has tried its patterns."""
    paths, resolve = [], BaseHandler.resolve_request

    def note(self, request):
        paths.append(request.path_info)
        return resolve(self, request)

    monkeypatch.setattr(BaseHandler, "resolve_request", note)
    return paths


def asked(ours, path):
    request = RequestFactory().get(path)
    match = ours.resolve_request(request)
    assert request.resolver_match is match
    return match


def test_a_path_is_resolved_once(resolved):
    ours = handler.Handler()

    first, again = asked(ours, "/a2a/tasks/next"), asked(ours, "/a2a/tasks/next")

    assert first is again
    assert first.route == "a2a/tasks/next"
    assert resolved == ["/a2a/tasks/next"]


def test_paths_with_parameters_are_remembered_each_and_unknown_paths_are_not(resolved):
    ours = handler.Handler()
    ids = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"]

    matches = [asked(ours, f"/a2a/tasks/{one}") for one in (*ids, *ids)]
    for _ in range(2):
        with pytest.raises(Http404):
            asked(ours, "/nowhere")

    assert [str(match.kwargs["task_id"]) for match in matches] == [*ids, *ids]
    assert len(resolved) == 4


def test_the_number_of_remembered_paths_is_bounded(resolved, monkeypatch):
    monkeypatch.setattr(handler, "MOST_KEPT", 1)
    ours = handler.Handler()

    for path in ("/healthz", "/readyz", "/readyz", "/healthz"):
        asked(ours, path)

    assert resolved == ["/healthz", "/readyz", "/healthz"]


META = {
    "REQUEST_METHOD": "POST",
    "HTTP_AUTHORIZATION": "Bearer a2a_key",
    "HTTP_X_REQUEST_ID": "7",
    "CONTENT_TYPE": "application/json",
    "CONTENT_LENGTH": "12",
    "SERVER_NAME": "hub",
}


def test_headers_are_djangos():
    ours, wanted = handler.Headers(META), HttpHeaders(META)

    assert dict(ours) == dict(wanted)
    assert len(ours) == len(wanted) == 4
    for name in ("Authorization", "authorization", "X-Request-Id", "x_request_id", "Content-Type", "CONTENT-LENGTH"):
        assert ours[name] == wanted[name] == ours.get(name)
        assert name in ours
        assert name in wanted
    for name in ("Server-Name", "Request-Method", "Cookie", "HTTP_AUTHORIZATION"):
        assert name not in ours
        assert name not in wanted
        assert ours.get(name, "none") == wanted.get(name, "none") == "none"
        with pytest.raises(KeyError):
            ours[name]


def test_a_request_of_a_web_process_has_these_headers():
    request = handler.Handler.request_class(RequestFactory().get("/").environ | META)

    assert isinstance(request.headers, handler.Headers)
    assert request.headers["X-Request-Id"] == "7"


def test_the_number_of_remembered_names_of_headers_is_bounded():
    headers = handler.Headers(META)
    for number in range(handler.MOST_NAMES + 50):
        assert headers.get(f"X-Nobody-{number}") is None

    assert handler._key.cache_info().currsize == handler.MOST_NAMES
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("fails", [False, True])
def test_a_request_shares_the_interpreter_until_its_answer_is_made(monkeypatch, fails):
    steps = []
    monkeypatch.setattr(handler, "begin_request", lambda: steps.append("begin"))
    monkeypatch.setattr(handler, "end_request", lambda: steps.append("end"))

    def answer(self, environ, start_response):
        steps.append("answer")
        if fails:
            raise OSError("no memory")
        return HttpResponse()

    monkeypatch.setattr(WSGIHandler, "__call__", answer)

    with pytest.raises(OSError, match="no memory") if fails else nullcontext():
        handler.Handler()({}, None)

    assert steps == ["begin", "answer", "end"]


@pytest.fixture
def large_answers(db, monkeypatch):
    answers = bodies.LargeAnswers()
    monkeypatch.setattr(bodies, "large_answers", answers)
    return answers


@pytest.mark.parametrize("size", [1, bodies.LARGE + 1])
def test_a_file_is_read_whole_and_counts_as_an_answer_if_it_is_large(tmp_path, large_answers, size):
    content = bytes(size)
    file = tmp_path / "file"
    file.write_bytes(content)
    response = FileResponse(file.open("rb"))

    sent = handler._sent(response, {})

    assert response.closed
    assert len(large_answers) == (size if size > bodies.LARGE else 0)
    assert b"".join(sent) == content


def test_a_stream_sends_a_large_chunk_in_pieces_and_its_end_closes_the_response(large_answers):
    chunks = [b"begin", bytes(bodies.LARGE + 1)]
    response = StreamingHttpResponse(iter(chunks))

    sent = handler._sent(response, {})
    assert isinstance(sent, bodies.Begun)
    pieces = list(sent)
    sent.close()

    assert b"".join(pieces) == b"".join(chunks)
    assert max(map(len, pieces)) == bodies.PIECE
    assert response.closed
