"""Corvid-agent's invariants 8 to 11 and its error cases, named as there, against a server on the loopback."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from agentcards import client
from agentcards.client import RemoteInvocationResult, discover_agent, fetch_agent_card, invoke_remote_agent
from agentcards.models import RemoteCard
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError, ValidationError
from tests.support.remote_servers import raw_server
from tests.support.wire_tap import tapped

CARD = "/.well-known/agent-card.json"


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Make sleeps take no time and advance the client's clock; return the list of sleeps in seconds."""
    now, naps = [1000.0], []

    def nap(seconds):
        naps.append(round(seconds, 3))
        now[0] += seconds

    monkeypatch.setattr(client, "sleep", nap)
    monkeypatch.setattr(client, "monotonic", lambda: now[0])
    return naps


@pytest.mark.django_db
class TestCards:
    def test_invariant_8_agent_card_cache_ttl_is_5_minutes(self, remote):
        with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as now:
            first = fetch_agent_card(remote.url)
            remote.card["name"] = "Renamed"
            now.shift(timedelta(minutes=5))
            cached = fetch_agent_card(remote.url)
            now.shift(timedelta(milliseconds=1))
            fresh = fetch_agent_card(remote.url)

        assert first["name"] == cached["name"] == "Corvid"
        assert fresh["name"] == "Renamed"
        assert remote.paths == [CARD, CARD]

    def test_invariant_8_stale_entries_are_pruned_on_the_next_fetch(self, remote):
        with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as now:
            RemoteCard.objects.create(url="https://gone.example/", document="{}", fetched_at=timezone.now())
            now.shift(timedelta(minutes=5, seconds=1))
            fetch_agent_card(remote.url)

        assert [row.url for row in RemoteCard.objects.all()] == [remote.url + CARD]

    @pytest.mark.parametrize(
        "card",
        [{}, {"name": "x"}, {"version": "1"}, {"name": "", "version": "1"}, {"name": "x", "version": None}, []],
    )
    def test_invariant_9_agent_card_validation_requires_name_and_version(self, remote, card):
        remote.card = card

        with pytest.raises(ValidationError) as refusal:
            fetch_agent_card(remote.url)

        message = f"Invalid Agent Card from {remote.url}{CARD}: missing required fields (name, version)"
        assert refusal.value.message == message

    def test_nothing_else_of_a_card_is_validated(self, remote):
        remote.card = {"name": "x\x00\ud800", "version": 2, "skills": "none", "url": "http://10.0.0.1"}

        assert fetch_agent_card(remote.url) == fetch_agent_card(remote.url) == remote.card

    def test_error_case_card_fetch_fails_non_2xx(self, remote):
        remote.card_status = 404

        with pytest.raises(ExternalServiceError) as failure:
            fetch_agent_card(remote.url)

        message = f"A2A: Failed to fetch Agent Card from {remote.url}{CARD}: HTTP 404 Not Found"
        assert failure.value.message == message

    def test_error_case_discovery_fails_returns_null(self, remote):
        remote.card_status = 500

        assert discover_agent(remote.url) is None
        assert discover_agent("http://10.0.0.1") is None
        assert discover_agent("nonsense") is None
        assert discover_agent("http://xn--127/") is None
        assert discover_agent("http://:%C3%A9@host.example/") is None

    def test_a_failure_is_not_cached(self, remote):
        remote.card_status = 500
        assert discover_agent(remote.url) is None
        remote.card_status = 200

        assert discover_agent(remote.url) is not None

    def test_a_card_that_is_not_json_is_an_error(self, remote):
        remote.card = b"<html>"

        with pytest.raises(ExternalServiceError, match="not JSON"):
            fetch_agent_card(remote.url)

    def test_clearing_the_cache_forces_a_new_fetch(self, remote):
        fetch_agent_card(remote.url)
        client.forget_cards()
        fetch_agent_card(remote.url)

        assert len(remote.requests) == 2

    def test_slashes_at_the_end_of_the_base_url_do_not_matter(self, remote):
        fetch_agent_card(f"{remote.url}//")
        fetch_agent_card(remote.url)

        assert remote.paths == [CARD]

    def test_the_length_of_a_url_is_checked_after_percent_encoding(self, remote):
        assert fetch_agent_card(f"{remote.url}/{'ü' * 70}")["name"] == "Corvid"
        assert RemoteCard.objects.get().url.endswith("%C3%BC" * 70 + CARD)
        assert discover_agent(f"{remote.url}/{'ü' * 80}") is None
        assert len(remote.requests) == 1

    def test_a_url_in_a_card_is_never_called(self, remote):
        remote.card |= {"url": "http://169.254.169.254/", "provider": {"url": "http://127.0.0.9/"}}

        with tapped() as connections:
            fetch_agent_card(remote.url)

        assert len(connections) == 1


class TestInvocation:
    def test_a_task_that_ends_at_once_is_returned_without_waiting(self, remote, clock):
        result = invoke_remote_agent(remote.url, "Summarize this")

        (task_id,) = remote.tasks
        assert result == RemoteInvocationResult(
            success=True, task_id=task_id, response_text="Summarize this: done", error=None
        )
        assert remote.paths == ["/a2a/tasks/send", f"/a2a/tasks/{task_id}"]
        assert clock == []

    def test_invariant_10_remote_invocation_polls_every_3_seconds(self, remote, clock):
        remote.looks = 4

        assert invoke_remote_agent(remote.url, "hi").success
        assert clock == [3.0] * 4
        assert len(remote.requests) == 6

    def test_invariant_11_remote_invocation_extracts_last_agent_message(self, remote):
        remote.looks = 2

        assert invoke_remote_agent(remote.url, "hi").response_text == "hi: done"

    def test_the_submission_has_corvid_agent_s_shape(self, remote):
        invoke_remote_agent(remote.url, "a")
        invoke_remote_agent(remote.url, "b", skill="web", timeout_ms=5000)

        assert remote.bodies == [
            {"params": {"message": "a", "timeoutMs": 300000}},
            {"params": {"message": "b", "skill": "web", "timeoutMs": 5000}},
        ]

    def test_error_case_submission_fails_non_2xx(self, remote):
        result = invoke_remote_agent(remote.url, "refuse me")

        error = 'Submit failed: HTTP 429 — {"error": "Rate limit exceeded. Try again later."}'
        assert result == RemoteInvocationResult(success=False, task_id="", response_text=None, error=error)
        assert len(remote.requests) == 1

    def test_error_case_poll_times_out(self, remote, clock):
        result = invoke_remote_agent(remote.url, "never", timeout_ms=8000)

        assert (result.success, result.error) == (False, "Timed out after 8000ms")
        assert [result.task_id] == list(remote.tasks)
        assert clock == [3.0, 3.0, 2.0]

    def test_error_case_remote_task_enters_failed_state(self, remote):
        result = invoke_remote_agent(remote.url, "fail")

        assert (result.success, result.response_text, result.error) == (False, "no ink", "no ink")

    @pytest.mark.parametrize(("said", "text"), [([], None), ([{"role": "agent", "parts": [{"text": ""}]}], "")])
    def test_error_case_failed_without_text_is_task_failed(self, remote, monkeypatch, said, text):
        monkeypatch.setattr(remote, "_show", lambda _: (200, {"state": "failed", "messages": said}))

        result = invoke_remote_agent(remote.url, "fail")

        assert (result.success, result.response_text, result.error) == (False, text, "Task failed")

    @pytest.mark.parametrize("status", [404, 500, 503])
    def test_failed_polls_are_repeated(self, remote, clock, monkeypatch, status):
        remote.poll_status = status
        monkeypatch.setattr(client, "sleep", lambda _: setattr(remote, "poll_status", 200))

        assert invoke_remote_agent(remote.url, "hi").success
        assert len(remote.requests) == 3

    def test_a_task_in_any_other_state_is_polled_until_the_timeout(self, remote, monkeypatch):
        monkeypatch.setattr(remote, "_show", lambda _: (200, {"state": "canceled", "messages": None}))

        assert invoke_remote_agent(remote.url, "hi", timeout_ms=4000).error == "Timed out after 4000ms"

    @pytest.mark.parametrize(
        "parts", [None, [], [{}], [{"text": 1}], "x", [{"type": "data", "data": {}}, {"text": "second"}]]
    )
    def test_only_the_first_part_of_the_last_message_is_read(self, remote, monkeypatch, parts):
        messages = [{"role": "agent", "parts": [{"text": "first"}]}, {"role": "agent", "parts": parts}]
        monkeypatch.setattr(remote, "_show", lambda _: (200, {"state": "completed", "messages": messages}))

        assert invoke_remote_agent(remote.url, "hi").response_text is None

    def test_characters_that_the_database_cannot_store_are_replaced(self, remote, monkeypatch):
        messages = [{"role": "agent", "parts": [{"text": "a\x00b\ud800c"}]}]
        monkeypatch.setattr(remote, "_show", lambda _: (200, {"state": "completed", "messages": messages}))

        assert invoke_remote_agent(remote.url, "hi").response_text == "a\ufffdb\ufffdc"

    @pytest.mark.parametrize("answer", [b"", b"not json", b"[]", b"{}", b'{"id": 5}', b'{"id": ""}'])
    def test_a_submission_without_a_usable_answer_raises(self, remote, monkeypatch, answer):
        monkeypatch.setattr(remote, "_send", lambda _: (200, answer))

        with pytest.raises(ExternalServiceError):
            invoke_remote_agent(remote.url, "hi")

        assert len(remote.requests) == 1

    def test_a_network_error_during_submission_raises_and_is_not_repeated(self, settings):
        settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]

        with raw_server(lambda connection, over: None) as url:
            error = pytest.raises(ExternalServiceError, match=f"A2A: no answer from {url}/a2a/tasks/send")
            with tapped() as connections, error:
                invoke_remote_agent(url, "hi")

        assert len(connections) == 1

    def test_polling_ends_with_an_error_when_the_answer_is_too_large(self, remote, clock, monkeypatch):
        monkeypatch.setattr(remote, "_show", lambda _: (200, b" " * 2**20 + b"{}"))

        result = invoke_remote_agent(remote.url, "hi")

        (task_id,) = remote.tasks
        error = f"A2A: the answer is larger than 1 MiB: {remote.url}/a2a/tasks/{task_id}"
        assert result == RemoteInvocationResult(success=False, task_id=task_id, response_text=None, error=error)
        assert clock == []

    def test_large_error_answers_to_a_poll_are_ignored(self, remote, monkeypatch):
        monkeypatch.setattr(remote, "_show", lambda _: (500, b" " * 2**21))

        assert invoke_remote_agent(remote.url, "hi", timeout_ms=4000).error == "Timed out after 4000ms"

    def test_a_large_error_answer_to_a_submission_counts_as_a_rejection(self, remote, monkeypatch):
        monkeypatch.setattr(remote, "_send", lambda _: (503, b" " * 2**21))

        error = "Submit failed: HTTP 503 — A2A: the answer is larger than 1 MiB"
        assert invoke_remote_agent(remote.url, "hi").error == error

    def test_a_remote_task_id_cannot_change_the_polled_path(self, remote, monkeypatch):
        monkeypatch.setattr(remote, "_send", lambda _: (200, {"id": "../../admin?x=1#"}))

        invoke_remote_agent(remote.url, "hi", timeout_ms=1000)

        assert remote.paths[1] == "/a2a/tasks/..%2F..%2Fadmin%3Fx%3D1%23"

    def test_credentials_of_the_base_url_go_with_every_request(self, remote):
        invoke_remote_agent(remote.url.replace("//", "//ann:secret@"), "hi")
        invoke_remote_agent(remote.url.replace("//", "//:the-key@"), "hi")

        sent = [headers.get("Authorization") for _, _, headers, _ in remote.requests]
        assert sent == ["Basic YW5uOnNlY3JldA=="] * 2 + ["Bearer the-key"] * 2

    def test_a_blocked_url_is_never_called(self):
        with tapped() as connections, pytest.raises(BlockedUrlError):
            invoke_remote_agent("http://169.254.169.254", "hi")

        assert connections == []
