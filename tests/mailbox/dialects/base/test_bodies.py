"""Large answers are sent in pieces, and are bounded by reader and by process."""

import gc
import weakref

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from rest_framework.response import Response

from a2aproject.web.handler import Handler
from mailbox.dialects.base import authentication, bodies
from mailbox.words.errors import RateLimitedError
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.one_database

ALICE, BOB = ({authentication.CALLER: name} for name in ("alice@local", "bob@local"))
STRANGER = {authentication.CALLER: "anyone", authentication.STRANGER: True, "REMOTE_ADDR": "192.0.2.1"}
OTHER_STRANGER = STRANGER | {"REMOTE_ADDR": "192.0.2.2"}
CONTENT = b"0123456789" * (bodies.LARGE // 10 + 1)


def holding(size, *metas):
    """Return answers with room for so many bytes, of which each reader holds one of 10 bytes."""
    answers = bodies.LargeAnswers(size)
    return answers, [answers.in_pieces(b"x" * 10, meta) for meta in metas]


def test_the_pieces_are_the_answer_and_its_end_frees_its_bytes():
    answers = bodies.LargeAnswers()
    answer = answers.in_pieces(CONTENT, ALICE)
    assert len(answers) == len(CONTENT)

    pieces = list(answer)
    answer.close()
    answer.close()

    assert b"".join(pieces) == CONTENT
    assert max(map(len, pieces)) == bodies.PIECE
    assert len(answers) == 0


def test_a_reader_beyond_its_share_is_refused_and_another_is_not():
    answers, _ = holding(40, ALICE, STRANGER)

    for full in (ALICE, STRANGER):
        with pytest.raises(RateLimitedError) as refusal:
            answers.check(full, 1)
        assert refusal.value.retry_after == bodies.RETRY_AFTER
    for free in (BOB, OTHER_STRANGER):
        answers.check(free, 10)


def test_a_full_process_refuses_every_reader():
    answers, _ = holding(40, ALICE, BOB, STRANGER, OTHER_STRANGER)

    with pytest.raises(RateLimitedError):
        answers.check({authentication.CALLER: "carol@local"}, 1)


def test_one_answer_beyond_the_share_cuts_the_readers_oldest():
    answers, (first, of_bob) = holding(40, ALICE, BOB)
    second = answers.in_pieces(b"y" * 10, ALICE)

    assert [list(one) for one in (first, second, of_bob)] == [[], [b"y" * 10], [b"x" * 10]]
    assert len(answers) == 20


def test_one_answer_beyond_the_process_cuts_the_oldest_of_the_reader_with_most():
    answers, (alices, bobs) = holding(40, ALICE, BOB)
    larger = answers.in_pieces(b"y" * 15, BOB)
    answers.in_pieces(b"z" * 20, STRANGER)

    assert (list(bobs), list(larger), list(alices)) == ([], [], [b"x" * 10])
    assert len(answers) == 30


def test_the_only_answer_of_a_reader_is_sent_whatever_its_size():
    answers = bodies.LargeAnswers(40)
    answers.check(ALICE, 100)

    assert list(answers.in_pieces(b"x" * 100, ALICE)) == [b"x" * 100]


def test_a_reader_has_few_threads_also_for_cut_answers_and_one_answer_more_is_cut(settings):
    settings.WEB_THREADS = 2 * bodies.FEW * bodies.SHARE  # twice as many for all readers as for one
    answers = bodies.LargeAnswers()
    first, *_ = [answers.in_pieces(b"x", ALICE) for _ in range(bodies.FEW)]
    first.cut()
    beyond = answers.in_pieces(b"y", ALICE)

    assert list(beyond) == []
    assert list(answers.in_pieces(b"y", BOB)) == [b"y"]
    with pytest.raises(RateLimitedError):
        answers.check(ALICE, 1)
    for closed in (first, beyond):
        closed.close()
    answers.check(ALICE, 1)
    assert list(answers.in_pieces(b"y", ALICE)) == [b"y"]


def test_all_readers_together_leave_most_threads_to_others(settings):
    settings.WEB_THREADS = 2 * bodies.FEW * bodies.SHARE
    answers = bodies.LargeAnswers()
    for meta in (ALICE, BOB):
        for _ in range(bodies.FEW):
            answers.in_pieces(b"x", meta)

    assert list(answers.in_pieces(b"y", STRANGER)) == []
    with pytest.raises(RateLimitedError):
        answers.check(STRANGER, 1)


def test_a_large_chunk_of_a_stream_is_sent_in_pieces_and_held_meanwhile(monkeypatch):
    held = bodies.LargeAnswers()
    monkeypatch.setattr(bodies, "large_answers", held)
    sent = bodies.chunks([b"small", CONTENT, b"after"], ALICE)

    assert (next(sent), len(held)) == (b"small", 0)
    first = next(sent)
    assert (len(first), len(held)) == (bodies.PIECE, len(CONTENT))
    *rest, after = sent

    assert (first + b"".join(rest), after) == (CONTENT, b"after")
    assert len(held) == 0


def test_a_stream_ends_with_a_chunk_that_was_cut(monkeypatch):
    held = bodies.LargeAnswers(4 * len(CONTENT))
    monkeypatch.setattr(bodies, "large_answers", held)
    sent = bodies.chunks([CONTENT, b"after"], ALICE)
    next(sent)

    held.in_pieces(b"x", ALICE)

    assert list(sent) == []


@pytest.fixture
def tasks(db, monkeypatch):
    """Return alice, whose list of tasks is a large answer. No earlier answer is held."""
    monkeypatch.setattr(bodies, "large_answers", bodies.LargeAnswers())
    alice = factories.agent("alice", "a2a.send.*")
    api = Api(alice)
    for _ in range(2):
        answer = api.post("/a2a/tasks", {"recipient": "alice@local", "intent_text": "x" * 200_000})
        assert answer.status_code == 200
    return alice


@pytest.fixture
def sent(tasks):
    """Return a function that sends alice's request as the web server does."""
    signals = (request_started, request_finished)
    were = [signal.disconnect(close_old_connections) for signal in signals]
    request = RequestFactory().get("/a2a/tasks/recent", headers={"Authorization": f"Bearer {factories.key_of(tasks)}"})
    yield lambda: Handler()(request.environ, lambda status, headers: None)
    for signal, was in zip(signals, were, strict=True):
        if was:
            signal.connect(close_old_connections)


def test_the_request_of_a_large_answer_ends_before_its_first_piece(sent):
    ended = []
    request_finished.connect(lambda **_: ended.append(True), weak=False, dispatch_uid="large")
    try:
        answer = sent()
    finally:
        request_finished.disconnect(dispatch_uid="large")

    assert isinstance(answer, bodies.LargeAnswer)
    assert ended == [True]


def test_a_read_beyond_the_share_is_refused_in_the_dialects_shape_and_a_change_is_not(tasks):
    full = b"x" * (bodies.MOST_LARGE // bodies.SHARE)
    unread = bodies.large_answers.in_pieces(full, {authentication.CALLER: tasks.name})
    api = Api(tasks)

    refused = api.get("/a2a/tasks/recent")
    leased = api.post("/a2a/tasks/lease", {"max": 2})
    unread.close()
    answered = api.get("/a2a/tasks/recent")

    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "1"
    assert '"answers";q=16777216' in refused.headers["RateLimit-Policy"]
    assert len(leased.content) > bodies.LARGE
    assert (leased.status_code, answered.status_code) == (200, 200)


def test_an_answer_is_freed_without_the_garbage_collector(sent, monkeypatch):
    made = []
    render = Response.render

    def noted(self):
        made.append(weakref.ref(self))
        return render(self)

    monkeypatch.setattr(Response, "render", noted)
    gc.collect()
    gc.disable()
    try:
        sent().close()
        assert [one() for one in made] == [None] * len(made) != []
    finally:
        gc.enable()
