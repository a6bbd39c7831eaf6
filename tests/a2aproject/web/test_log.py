"""The log as JSON, and the id of each request."""

import io
import json
import logging
import re
from logging.config import DictConfigurator

import pytest
from django.test import Client

from a2aproject.web import log
from a2aproject.web.log import JSONFormatter
from mailbox.words.redaction import RedactSecrets
from tests.support import factories, pages
from tests.support.api import Api
from tests.support.settings import settings_of

pytestmark = pytest.mark.django_db

SECRET = f"a2a_12345678_{'s' * 32}_abcdef"


@pytest.fixture
def lines():
    """Log as JSON; return a function that returns the logged objects."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONFormatter())
    handler.addFilter(RedactSecrets())
    logger = logging.getLogger("a2aproject.requests")
    before = logger.level
    logger.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)
    logger.setLevel(before)


def test_each_answered_request_has_one_line(lines, alice, bob):
    task = factories.sent_task(alice, bob)

    answer = Api(alice).get(f"/a2a/tasks/{task.uuid}/entry", headers={"X-Request-Id": "mine-1"})

    (line,) = lines()
    duration = line.pop("duration_ms")
    assert 0 < duration < 60_000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line == {
        "level": "INFO",
        "logger": "a2aproject.requests",
        "message": "GET /a2a/tasks/<id:task_id>/entry 200",
        "request_id": answer["X-Request-Id"],
        "agent": "alice@local",
        "route": "/a2a/tasks/<id:task_id>/entry",
        "method": "GET",
        "status": 200,
    }
    assert line["request_id"] == "mine-1"
    ((_, example),) = pages.BLOCK.findall(pages.page("docs/operate/logging.md"))
    assert {*json.loads(example)} == {*line, "time", "duration_ms"}


def test_a_stranger_has_no_name_and_a_person_has_one(lines, client, django_user_model):
    client.get("/healthz")
    client.force_login(django_user_model.objects.create_user("olga"))
    client.get("/ops/")

    assert [line["agent"] for line in lines() if line["logger"] == "a2aproject.requests"] == [None, "user:olga"]


@pytest.mark.parametrize("path", ["/healthz", "/ops/sign-in/", "/nothing/here", "/static/ops/none.svg", "/a2a/tasks"])
@pytest.mark.parametrize("given", ["", "has space", "x" * 65, "é", SECRET])
def test_every_answer_has_an_id_made_for_it_if_the_client_names_none_that_is_fit(path, given):
    answers = [Client().get(path, headers={"X-Request-Id": given}) for _ in range(2)]

    ids = {answer["X-Request-Id"] for answer in answers}
    assert len(ids) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}", made) for made in ids)


@pytest.mark.parametrize("path", ["/healthz", "/ops/sign-in/", "/nothing/here", "/a2a/tasks"])
def test_an_answer_has_the_fit_id_of_its_request(path):
    assert Client().get(path, headers={"X-Request-Id": "A.b_c-9"})["X-Request-Id"] == "A.b_c-9"


def test_records_of_a_request_name_it_and_others_do_not(lines):
    token = log.request_id.set("r-1")
    logging.getLogger("some").error("within %s", "it")
    log.request_id.reset(token)
    logging.getLogger("some").error("beside it")

    within, beside = lines()
    assert (within["message"], within["request_id"]) == ("within it", "r-1")
    assert "request_id" not in beside


def test_an_exception_is_one_line_with_its_traceback_and_without_secrets(lines):
    try:
        raise ValueError(f"the key {SECRET}")
    except ValueError:
        logging.getLogger("some").exception("it failed with %s", SECRET)

    (line,) = lines()
    assert "Traceback (most recent call last)" in line["exception"]
    assert "ValueError: the key" in line["exception"]
    assert SECRET not in json.dumps(line)


def test_the_token_of_a_public_route_is_in_no_line(lines, alice):
    path = factories.route(alice)

    Client().post(f"{path}/a2a/tasks/send", {}, content_type="application/json")

    told = [line for line in lines() if line["logger"] == "a2aproject.requests"]
    assert [line["route"] for line in told] == ["/a2a/tasks/send"]
    assert path.removeprefix("/p/") not in json.dumps(lines())


def test_a_text_log_has_no_lines_of_requests(capfd, client):
    client.get("/healthz")

    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("form", "starts"), [("json", '{"time":"'), ("JSON", '{"time":"'), ("text", "20")])
def test_the_form_is_chosen_by_a_setting(tmp_path, form, starts):
    chosen = settings_of(LOG_FORMAT=form, A2A_VAR=str(tmp_path)).LOGGING
    formatter = chosen["handlers"]["stderr"]["formatter"]
    made = DictConfigurator(chosen).configure_formatter(chosen["formatters"][formatter])
    line = made.format(logging.makeLogRecord({"msg": "said"}))

    assert line.startswith(starts)
    assert "said" in line
