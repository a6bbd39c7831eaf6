"""``ask``: a person at the command line talks to an agent over the official protocol."""

import io
import json
import sys

import pytest
from django.core.management.base import CommandError

from agentcards.official_client import dialogue
from tests.support.official_agents import BINDINGS
from tests.support.official_servers import official

pytestmark = pytest.mark.django_db


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _no_naps(monkeypatch):
    monkeypatch.setattr(dialogue, "sleep", lambda _: None)


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("how", [(), ("--stream",)])
def test_messages_and_artifacts_are_printed_over_each_binding(a2a, offie, capsys, binding, how):
    offie.binding, offie.streams = binding, True

    a2a("ask", offie.url, "work", *how)

    lines = capsys.readouterr().out.splitlines()
    assert lines == ["[submitted]", "[working]", "step 1", "artifact out:", "echo: ", "work", "[completed]", "done"]
    assert ("SendStreamingMessage" in offie.operations) == bool(how)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("fail", 3, "failed: no ink"),
        ("reject", 4, "rejected: not mine"),
        ("cancelled", 5, "canceled"),
        ("ask", 6, "input required: which one?"),
        ("auth", 7, "auth required: sign in"),
    ],
)
def test_each_other_end_has_its_exit_code(a2a, offie, text, code, message):
    with pytest.raises(CommandError, match=message) as refusal:
        a2a("ask", offie.url, text)

    assert refusal.value.returncode == code


def test_an_agent_still_at_work_has_an_exit_code_of_its_own(a2a, offie, monkeypatch):
    moments = iter(range(0, 1000, 10))
    monkeypatch.setattr(dialogue, "monotonic", lambda: next(moments))

    with pytest.raises(CommandError, match="still at work") as refusal:
        a2a("ask", offie.url, "never", "--timeout", "30")

    assert refusal.value.returncode == 8


def test_a_person_answers_a_question_at_the_terminal(a2a, offie, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("the red one\n"))

    a2a("ask", offie.url, "ask")

    assert capsys.readouterr().out.splitlines()[-3:] == ["answered", "[completed]", "thanks"]
    assert offie.sent[1]["parts"] == [{"text": "the red one"}]
    assert offie.sent[1]["taskId"] in offie.tasks


def test_a_direct_message_is_printed(a2a, offie, capsys):
    a2a("ask", offie.url, "message")

    assert capsys.readouterr().out == "message: at once\n"


def test_progress_is_printed(a2a, offie, capsys):
    a2a("ask", offie.url, "progress")

    assert "50%\nhalf\n" in capsys.readouterr().out


def test_json_prints_each_event_as_a_line(a2a, offie, capsys):
    offie.streams = True

    a2a("ask", offie.url, "work", "--stream", "--json")

    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [next(iter(event)) for event in events] == [
        "task",
        "statusUpdate",
        "artifactUpdate",
        "artifactUpdate",
        "statusUpdate",
    ]


def test_control_characters_of_an_agent_are_not_printed(a2a, offie, capsys):
    a2a("ask", offie.url, "message \x1b[2J")

    assert "\x1b" not in capsys.readouterr().out


def test_a_key_is_read_from_its_file_and_sent(a2a, offie, tmp_path):
    (tmp_path / "key").write_text("sekret\n")

    a2a("ask", offie.url, "bare", "--key-file", tmp_path / "key")

    assert {headers["authorization"] for _, _, headers, _ in offie.requests} == {"Bearer sekret"}


def test_the_key_of_the_environment_is_sent_to_this_hub_alone(a2a, cast, offie, settings, monkeypatch):
    monkeypatch.setenv("A2A_API_KEY", "sekret")
    a2a("ask", offie.url, "bare")
    settings.PUBLIC_URL, settings.A2A_OUTBOUND_ALLOW = offie.url, []

    a2a("ask", "bob", "bare")

    shown = [(path, headers.get("authorization")) for _, path, headers, _ in offie.requests]
    assert {key for path, key in shown if not path.startswith("/agents/bob@local/")} >= {None}
    assert shown[3] == ("/agents/bob@local/.well-known/agent-card.json", "Bearer sekret")


def test_a_private_address_is_refused(a2a, settings):
    settings.A2A_OUTBOUND_ALLOW = []
    with official() as agent, pytest.raises(CommandError, match="is not allowed"):
        a2a("ask", agent.url, "hi")


def test_a_url_with_credentials_is_refused(a2a):
    with pytest.raises(CommandError, match="process lists show"):
        a2a("ask", "https://:k3y@agent.example", "hi")


def test_an_error_of_the_agent_is_shown(a2a, offie):
    offie.busy = True

    with pytest.raises(CommandError, match="The remote agent refused: busy"):
        a2a("ask", offie.url, "hi")
