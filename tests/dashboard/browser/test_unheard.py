"""A dialog whose request finds no answer, or an error: it says so, keeps what was typed, and can be sent again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from mailbox.models import ReplayEntry
from mailbox.words.kinds import Kind
from tests.dashboard.views.test_idempotency import cached
from tests.support import factories
from tests.support.axe import violations
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

DIALOGS = "**/ops/**"
UNKNOWN = "whether it was done is unknown"


def failing(page, how, *, method):
    """Let requests of dialogs fail as ``how`` says: a status, or "aborted", or "lost" after it was done."""

    def fail(route):
        if route.request.method != method or route.request.headers.get("hx-request") != "true":
            route.fallback()
        elif how in ("aborted", "lost"):
            if how == "lost":
                route.fetch()
            route.abort()
        else:
            route.fulfill(status=how, content_type="text/html", body="<html><main>upstream failed</main></html>")

    page.route(DIALOGS, fail)


def send_anew(page):
    """Open the form of the dialog again, which keeps the reason, and send it."""
    page.locator("dialog a", has_text="Open the form again").click()
    page.wait_for_selector("dialog form")
    assert page.input_value("dialog [name=reason]") == "pod killed"
    page.check("dialog [value=operator_accepted]")
    page.click("dialog [data-submit]")
    page.wait_for_selector("text=Requeued. Attempt 1 stays recorded")


@pytest.fixture
def requeue(browse, alice, bob):
    """The page of a stale lease with its dialog open and filled in."""
    stale(alice, bob)
    page = browse("ana", may_fail=True)
    page.goto("/ops/leases/")
    page.locator("td a", has_text="Requeue").click()
    page.wait_for_selector("dialog[open] form")
    page.check("dialog [value=operator_accepted]")
    page.fill("dialog [name=reason]", "pod killed")
    return page


@pytest.mark.parametrize("how", [500, 503, 404, "aborted", "lost"])
def test_a_repair_without_an_answer_is_told_and_can_be_sent_again(requeue, how):
    failing(requeue, how, method="POST")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]")

    assert UNKNOWN in requeue.inner_text("dialog [role=alert]")
    assert requeue.inner_text("dialog [data-submit]") == "Requeue lease"
    assert requeue.locator("dialog [data-submit]").is_enabled()
    assert requeue.evaluate("document.activeElement.matches('[data-submit]')")
    assert requeue.input_value("dialog [name=reason]") == "pod killed"
    assert violations(requeue, contrast=False) == []
    requeue.unroute(DIALOGS)
    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("text=Requeued. Attempt 1 stays recorded")
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1


def test_an_answer_that_is_there_at_once_is_told_too(requeue):
    """The button is out of use only after its value was read, and a failure may be known before that."""
    requeue.evaluate(
        """() => {
            const [set, clear] = [window.setTimeout, window.clearTimeout];
            window.due = new Map();
            window.setTimeout = (what, ms, ...rest) => {
                const id = set(ms ? what : () => {}, ms, ...rest);
                if (!ms) due.set(id, what);
                return id;
            };
            window.clearTimeout = id => { due.delete(id); clear(id); };
        }"""
    )
    failing(requeue, "aborted", method="POST")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]")
    requeue.evaluate("for (const what of due.values()) what()")

    assert UNKNOWN in requeue.inner_text("dialog [role=alert]")
    assert requeue.inner_text("dialog [data-submit]") == "Requeue lease"
    assert requeue.locator("dialog [data-submit]").is_enabled()


def test_a_second_failure_is_told_once(requeue):
    failing(requeue, "aborted", method="POST")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]")
    requeue.evaluate("document.querySelector('dialog [role=alert]').toggleAttribute('data-first')")
    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]:not([data-first])")

    assert requeue.locator("dialog [role=alert]").count() == 1
    assert requeue.locator("dialog [data-submit]").is_enabled()


@pytest.mark.parametrize("how", [500, 404, "aborted"])
def test_a_dialog_that_cannot_be_opened_is_one_that_says_so(browse, alice, bob, how):
    cached(alice, bob)
    page = browse("ana", may_fail=True)
    page.goto("/ops/idempotency/")
    failing(page, how, method="GET")

    page.locator("td a", has_text="Drop").click()
    page.wait_for_selector("dialog[open] [role=alert]")

    assert "Nothing was changed" in page.inner_text("dialog")
    assert violations(page, contrast=False) == []
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]", state="hidden")
    assert page.evaluate("document.activeElement.textContent").startswith("Drop")


@pytest.mark.parametrize("is_open", [False, True])
def test_a_cached_result_that_another_person_dropped_is_told(browse, ben, alice, bob, is_open):
    cached(alice, bob)
    page = browse("ana")
    page.goto("/ops/idempotency/")
    if is_open:
        page.locator("td a", has_text="Drop").click()
        page.wait_for_selector("dialog[open] form")
    ReplayEntry.objects.all().delete()

    if is_open:
        page.fill("dialog [name=reason]", "prices changed")
        page.keyboard.press("Enter")
    else:
        page.locator("td a", has_text="Drop").click()
    page.wait_for_selector("dialog[open] [role=alert]")

    assert "it was dropped, or never was" in page.inner_text("dialog")
    assert ("prices changed" in page.inner_text("dialog")) is is_open
    assert violations(page, contrast=False) == []


def test_a_form_that_is_too_old_opens_anew_with_its_reason(requeue):
    requeue.context.add_cookies([{"name": "csrftoken", "value": "x" * 32, "url": requeue.url.partition("/ops/")[0]}])

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")

    assert requeue.locator("main#main").count() == 1
    assert requeue.inner_text("dialog #panel-title") == "Nothing was changed"
    assert "pod killed" in requeue.inner_text("dialog")
    send_anew(requeue)


def test_a_session_that_ended_keeps_the_reason_for_after_the_sign_in(requeue):
    requeue.context.clear_cookies(name="sessionid")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")

    assert "no longer signed in" in requeue.inner_text("dialog")
    requeue.locator("dialog a", has_text="Sign in").click()
    requeue.wait_for_selector("[name=password]")
    assert "reason=pod+killed" in requeue.input_value("[name=next]")


def test_whoever_signed_out_and_in_again_elsewhere_opens_the_form_anew_with_its_reason(requeue):
    person = User.objects.get(username="ana")
    person.set_password("correct horse battery")
    person.save()  # which ends the session, too
    elsewhere = requeue.context.new_page()
    elsewhere.goto("/ops/")
    elsewhere.fill("[name=username]", "ana")
    elsewhere.fill("[name=password]", "correct horse battery")
    elsewhere.click("main button")
    elsewhere.wait_for_url("**/ops/")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")

    assert "The form was too old" in requeue.inner_text("dialog")
    assert requeue.url.endswith("/ops/leases/")
    send_anew(requeue)
