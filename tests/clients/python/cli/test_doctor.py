from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from a2a_hub_client.cli.commands import doctor
from tests.support import factories
from tests.support.ports import CLOSED

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]


def marks(ran):
    return {finding["check"]: finding["mark"] for finding in ran.json["findings"]}


def test_a_healthy_way_has_no_bad_check(a2a, bob):
    table, whole = a2a("doctor", by=bob), a2a("doctor", "-o", "json", by=bob)

    assert set(marks(whole).values()) == {"ok"}
    assert list(marks(whole)) == ["config", "hub", "tls", "reach", "clock", "version", "key", "rights", "waits"]
    assert table.rows[-2] == ["ok", "rights", "a2a.respond.*"]
    assert (table.code, table.err) == (0, "")


def test_each_broken_part_says_what_to_do(a2a, bob, tmp_path):
    (tmp_path / "key").write_text("a2a_wrong")
    url = f"http://127.0.0.1:{CLOSED}"

    unnamed = a2a("doctor")
    unreached = a2a("doctor", "--url", url, by=bob)
    wrong = a2a("doctor", "--key-file", tmp_path / "key", by=bob)

    assert unnamed.rows[-1] == ["bad", "hub", "no hub is named: run `a2a login`, or set A2A_URL and A2A_API_KEY"]
    assert unreached.rows[-1][:2] == ["bad", "reach"]
    assert url in unreached.rows[-1][2]
    assert wrong.rows[-1][:2] == ["bad", "key"]
    assert {unnamed.code, unreached.code, wrong.code} == {1}


def test_a_config_that_others_can_read_is_bad(a2a, bob):
    a2a("login", a2a.url, "--key-file", "-", typed=factories.key_of(bob))
    a2a.config.chmod(0o644)

    assert a2a("doctor").rows == [
        ["bad", "config", f"{a2a.config} holds keys, and others can read it. Run: chmod 600 {a2a.config}"]
    ]


def test_an_agent_without_a_capability_is_told(a2a, alice):
    assert marks(a2a("doctor", "-o", "json", by=factories.agent("carol")))["rights"] == "look"


@pytest.mark.parametrize(("seconds", "text"), [(100, "behind the hub's"), (-100, "ahead of the hub's")])
def test_a_clock_that_is_off_is_bad(seconds, text):
    theirs = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds))

    assert doctor._clock(theirs).mark == "bad"
    assert text in doctor._clock(theirs).text


@pytest.mark.parametrize(
    ("url", "mark"), [("https://hub", "ok"), ("http://127.0.0.1:3000", "ok"), ("http://hub.example", "look")]
)
def test_a_key_in_clear_text_on_a_network_is_told(url, mark):
    assert doctor.check_tls(url).mark == mark


def test_a_held_request_is_timed(a2a, bob, alice, monkeypatch):
    monkeypatch.setattr(doctor, "WAIT", 0.2)
    none = a2a("doctor", "--waits", by=bob)
    factories.sent_task(alice, bob)

    assert none.rows[-1] == ["look", "waits", "not checked: there is no unresolved task to wait for"]
    assert a2a("doctor", "--waits", by=bob).rows[-1][:2] == ["ok", "waits"]
