import io
import itertools
import re
import sys
import threading

import pytest
from django.core.management.base import CommandError

from agentcards import client
from mailbox.management.cli import progress
from mailbox.outbound import exchange


class Terminal(io.StringIO):
    """A terminal. ``shown`` is set once it has shown more than three frames."""

    encoding = "utf-8"

    def __init__(self):
        super().__init__()
        self.shown = threading.Event()

    def flush(self):
        if len(frames(self)) > 3:
            self.shown.set()

    def isatty(self):
        return True


def frames(terminal):
    return re.findall(r"(.) waiting for the remote agent (\d+\.\d) s", terminal.getvalue())


def test_discover_prints_one_fact_of_the_card_per_line(a2a, remote):
    remote.card |= {
        "description": "Counts\nwords",
        "url": "https://agent.example",
        "provider": {"organization": "Crows", "url": "https://crows.example"},
        "skills": [{"id": "count", "name": "Count", "description": "Counts words"}, {"id": "add", "name": "Add"}, 3],
        "supportedProtocols": [{"protocol": "A2A"}, {"protocol": "MCP"}],
    }

    assert a2a("discover", remote.url).splitlines() == [
        "Agent:        Corvid 1.0.0",
        "Description:  Counts words",
        "URL:          https://agent.example",
        "Provider:     Crows",
        "Protocols:    A2A, MCP",
        "Skills:       2",
        "  count: Counts words",
        "  add: Add",
    ]


def test_discover_with_json_prints_the_card_unchanged(a2a_json, remote):
    assert a2a_json("discover", remote.url, "--json") == remote.card


@pytest.mark.parametrize("nonsense", [{"skills": 3}, {"skills": [None], "provider": []}, {"supportedProtocols": "x"}])
def test_discover_prints_cards_with_fields_of_odd_types(a2a, remote, nonsense):
    remote.card |= nonsense

    assert a2a("discover", remote.url).startswith("Agent:")


def test_control_characters_of_remote_agents_are_not_printed(a2a, remote):
    remote.card |= {"name": "\x1b]0;owned\x07", "description": "\x1b[2J\u202egnp.exe"}

    assert not re.search(r"[\x1b\x07\u202e]", a2a("discover", remote.url))
    assert "\x1b" not in a2a("invoke", remote.url, "\x1b[2J")


@pytest.mark.parametrize("words", [("discover",), ("invoke", "hi")])
def test_control_characters_in_remote_errors_are_not_printed(a2a, remote, monkeypatch, words):
    command, *more = words
    monkeypatch.setattr(exchange, "exchange", refuse)

    with pytest.raises(CommandError) as refusal:
        a2a(command, remote.url, *more)

    assert "\x1b" not in str(refusal.value)


def refuse(*_, **__):
    return exchange.ServerResponse(status=404, reason="\x1b[2JNot Found", body=b"\x1b[2J")


def test_a_missing_card_is_an_error_with_its_reason(a2a, remote):
    remote.card_status = 404

    with pytest.raises(CommandError, match="HTTP 404 Not Found") as refusal:
        a2a("discover", remote.url)

    assert refusal.value.returncode == 1


def test_a_blocked_url_is_an_error_with_its_reason(a2a):
    with pytest.raises(CommandError, match=r"Blocked URL: 10\.0\.0\.1 is a private/reserved IP address"):
        a2a("invoke", "http://10.0.0.1", "hi")


def test_an_invocation_prints_the_answer(a2a, remote):
    assert a2a("invoke", remote.url, "hi", "--skill", "s", "--timeout-ms", 5000) == "hi: done"
    assert remote.bodies == [{"params": {"message": "hi", "skill": "s", "timeoutMs": 5000}}]


def test_an_invocation_with_json_prints_all_fields(a2a_json, remote):
    answer = a2a_json("invoke", remote.url, "fail", "--json")

    (task_id,) = remote.tasks
    assert answer == {"success": False, "taskId": task_id, "responseText": "no ink", "error": "no ink"}


def test_a_failed_invocation_exits_with_1_and_its_reason(a2a, remote):
    with pytest.raises(CommandError, match="Remote agent invocation failed: Submit failed: HTTP 429") as refusal:
        a2a("invoke", remote.url, "refuse")

    assert refusal.value.returncode == 1


def test_a_terminal_shows_a_spinner_with_the_elapsed_time(a2a, remote, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "monotonic", map(float, itertools.count()).__next__)
    monkeypatch.setattr(client, "sleep", lambda _: terminal.shown.wait())
    remote.looks = 1

    assert a2a("invoke", remote.url, "hi") == "hi: done"

    assert len({frame for frame, _ in frames(terminal)}) > 3
    assert [seconds for _, seconds in frames(terminal)][:2] == ["1.0", "2.0"]
    assert terminal.getvalue().endswith(progress.ERASE_LINE)


def test_a_file_gets_no_spinner(a2a, remote, monkeypatch):
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)

    a2a("invoke", remote.url, "hi")

    assert stderr.getvalue() == ""
