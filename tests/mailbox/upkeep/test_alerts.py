import json
import smtplib
from datetime import timedelta

import pytest
from django.core import mail

from mailbox.access.callers import Caller
from mailbox.access.own_agents import SCHEDULER
from mailbox.inspection.health import checks
from mailbox.inspection.health.checks import HealthStatus
from mailbox.models import Alert, AuditEvent
from mailbox.upkeep import alerts
from mailbox.upkeep.alerts import AlertError, Concern
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.chance import MOMENT
from tests.support.receiver import receiver

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
STALE = Concern(key="leases", subject="3 stale leases", text="(over 5 min)", path="/ops/leases/?state=stale")
QUIET = Concern(key="quiet:bob@local", subject="bob@local", text="no contact for 9 min", path="/ops/agents/bob@local/")


@pytest.fixture
def hook(settings, loopback):
    with receiver() as found:
        settings.A2A_ALERT_URL = found.url
        yield found


@pytest.fixture
def scheduler() -> Caller:
    return Caller(name=SCHEDULER, source=AuditEvent.Source.SCHEDULER, trusted=True)


@pytest.fixture
def run(scheduler):
    """Return a function that runs one pass, with these decisions, so many minutes after `MOMENT`."""

    def run(minutes, *concerns):
        now = MOMENT + minutes * MINUTE
        alerts.note(concerns, now)
        return alerts.report(scheduler, now)

    return run


def body(hook, number=-1):
    return json.loads(hook.calls[number][1])


def test_a_decision_is_reported_once_and_only_after_the_time_of_the_setting(hook, run, settings):
    settings.A2A_ALERT_AFTER = 10 * MINUTE

    sent = [run(minute, STALE) for minute in range(13)]

    assert sent == [*([0] * 10), 1, 0, 0]
    (line,) = body(hook)["decisions"]
    assert line == {
        "key": "leases",
        "subject": "3 stale leases",
        "text": "(over 5 min)",
        "url": f"{settings.PUBLIC_URL}/ops/leases/?state=stale",
        "began_at": MOMENT.isoformat(),
    }
    assert len(hook.calls) == 1


def test_decisions_of_one_pass_share_one_alert_and_one_journal_row(hook, run):
    run(0, STALE, QUIET)
    run(10, STALE, QUIET)

    assert body(hook)["text"] == "2 decisions need an operator"
    (row,) = factories.journal(Kind.ALERT_SENT)
    assert row.fields == {
        "subjects": ["3 stale leases (over 5 min)", "bob@local no contact for 9 min"],
        "ended": [],
        "to": ["webhook"],
    }


def test_the_newest_words_of_a_decision_are_reported(hook, run):
    run(0, STALE)
    run(10, Concern(key=STALE.key, subject="7 stale leases", text=STALE.text, path=STALE.path))

    assert body(hook)["text"] == "7 stale leases (over 5 min)"


def test_a_decision_that_stays_is_reported_again_after_the_time_of_the_setting(hook, run, settings):
    settings.A2A_ALERT_REPEAT = 60 * MINUTE
    settings.A2A_ALERT_AFTER = timedelta(0)
    run(0, STALE)
    Alert.objects.update(reported_at=MOMENT)

    assert [run(minute, STALE) for minute in (59, 60)] == [0, 1]


def test_the_end_of_a_reported_decision_is_reported_and_its_row_deleted(hook, run, settings):
    settings.A2A_ALERT_AFTER = timedelta(0)
    run(0, STALE)

    assert [run(minute) for minute in (1, 2, 3, 4)] == [0, 0, 1, 0]
    assert [line["key"] for line in body(hook)["resolved"]] == ["leases"]
    assert body(hook)["text"] == "1 decision resolved"
    assert not Alert.objects.exists()


def test_a_decision_that_ends_before_its_report_is_never_reported(hook, run):
    run(0, STALE)

    assert [run(minute) for minute in (5, 11)] == [0, 0]
    assert not Alert.objects.exists()
    assert hook.calls == []


def test_a_decision_that_flickers_is_one_alert(hook, run, settings):
    settings.A2A_ALERT_AFTER = timedelta(0)

    assert [run(0, STALE), run(1), run(2, STALE), run(3), run(4, STALE)] == [1, 0, 0, 0, 0]


def test_a_refused_alert_is_tried_again_and_its_error_stays_until_then(hook, run):
    hook.statuses = [503]
    run(0, STALE)
    with pytest.raises(AlertError, match="webhook: the receiver answered 503"):
        run(10, STALE)

    assert checks.channels(MOMENT).word is HealthStatus.DEGRADED
    assert [run(minute, STALE) for minute in (11, 12)] == [0, 1]
    assert checks.channels(MOMENT).word is HealthStatus.OK
    assert len(factories.journal(Kind.ALERT_SENT)) == 1


def test_an_alert_whose_process_was_killed_is_sent_after_its_claim(hook, run, monkeypatch):
    run(0, STALE)
    with monkeypatch.context() as killed:
        killed.setattr(alerts, "_send", lambda text: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(10, STALE)

    assert [run(minute, STALE) for minute in (11, 12)] == [0, 1]


def test_a_second_pass_does_not_send_the_alert_that_the_first_is_sending(hook, run, scheduler, monkeypatch):
    others = []
    post = alerts._post

    def slow(text):
        others.append(alerts.report(scheduler, MOMENT + 10 * MINUTE))
        post(text)

    monkeypatch.setattr(alerts, "_post", slow)
    run(0, STALE)

    assert run(10, STALE) == 1
    assert others == [0]
    assert len(hook.calls) == 1


def test_an_alert_that_one_channel_took_is_reported(hook, run, settings, monkeypatch):
    settings.A2A_ALERT_MAIL = ["ana@example.org"]
    monkeypatch.setattr(mail.EmailMessage, "send", lambda self: (_ for _ in ()).throw(smtplib.SMTPServerDisconnected))
    run(0, STALE)

    assert [run(minute, STALE) for minute in (10, 12)] == [1, 0]
    assert checks.channels(MOMENT).saw == "mail: SMTPServerDisconnected"
    assert factories.journal(Kind.ALERT_SENT)[0].fields["to"] == ["webhook"]


def test_slack_gets_one_text_in_which_agents_form_no_links_and_mentions(hook, run, settings):
    settings.A2A_ALERT_FORMAT, settings.A2A_HUB_NAME = "slack", "Hub & Co"
    rude = Concern(key="x", subject="<!channel>", text="a\n<https://evil.example|b>", path="/ops/")
    run(0, rude)
    run(10, rude)

    (text,) = body(hook).values()
    assert text == (
        f"*<{settings.PUBLIC_URL}/ops/|Hub &amp; Co>*: &lt;!channel&gt; a &lt;https://evil.example|b&gt;\n"
        f"• <{settings.PUBLIC_URL}/ops/|&lt;!channel&gt;> a &lt;https://evil.example|b&gt; (waiting for 10 m)"
    )


def test_a_mail_has_the_decision_in_its_subject_and_the_page_in_its_body(run, settings, mailoutbox):
    settings.A2A_ALERT_MAIL, settings.A2A_ALERT_MAIL_FROM = ["ana@example.org", "ben@example.org"], "hub@example.org"
    run(0, QUIET)
    run(10, QUIET)

    (message,) = mailoutbox
    assert (message.subject, message.from_email) == ("[A2A Hub] bob@local no contact for 9 min", "hub@example.org")
    assert message.to == ["ana@example.org", "ben@example.org"]
    assert f"waiting for 10 m\n{settings.PUBLIC_URL}/ops/agents/bob@local/\n" in message.body


def test_no_alert_of_a_failed_webhook_names_its_url(run, settings):
    settings.A2A_ALERT_URL = "http://127.0.0.1:9/secret-path"
    run(0, STALE)
    with pytest.raises(AlertError, match=r"^webhook: blocked_url$"):
        run(10, STALE)


def test_a_test_alert_is_journalled_and_claims_nothing(hook, run, scheduler):
    run(0, STALE)

    assert alerts.send_test(scheduler) == ["webhook"]
    assert body(hook)["text"] == "Test alert: this channel works"
    assert factories.journal(Kind.ALERT_SENT)[0].fields == {"subjects": [], "ended": [], "to": ["webhook"]}
    assert Alert.objects.get().claimed_until is None
