"""A dialog whose request fails reports the failure, keeps the typed text and can be sent again."""

import pytest
from django.contrib.auth.models import User

from mailbox.models import ReplayEntry
from mailbox.words.kinds import Kind
from tests.dashboard.test_idempotency import cached
from tests.support import factories
from tests.support.axe import violations
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

DIALOGS = "**/ops/**"
UNKNOWN = "don't know whether this was applied"


def failing(page, how, *, method):
    """Make requests of dialogs fail.

    ``how`` is the status of the answer, "aborted" before the hub gets the request, or "lost" after the hub acted.
    """

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


def reopen_and_send(page):
    """Open the form of the dialog again, check that it kept the reason, and send it."""
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
def test_a_repair_without_an_answer_is_reported_and_can_be_resent(requeue, how):
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


def test_a_failure_known_before_the_button_is_disabled_is_reported(requeue):
    """The script disables the button only after the form was read. The failure can be known before that."""
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


def test_a_second_failure_replaces_the_first_message(requeue):
    failing(requeue, "aborted", method="POST")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]")
    requeue.evaluate("document.querySelector('dialog [role=alert]').toggleAttribute('data-first')")
    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog [role=alert]:not([data-first])")

    assert requeue.locator("dialog [role=alert]").count() == 1
    assert requeue.locator("dialog [data-submit]").is_enabled()


@pytest.mark.parametrize("how", [500, 404, "aborted"])
def test_a_dialog_that_fails_to_open_says_that_nothing_changed(browse, alice, bob, how):
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
def test_dropping_a_result_that_another_person_dropped_is_explained(browse, ben, alice, bob, is_open):
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

    assert "It may have been dropped" in page.inner_text("dialog")
    assert ("prices changed" in page.inner_text("dialog")) is is_open
    assert violations(page, contrast=False) == []


def test_an_expired_form_reopens_with_its_reason(requeue):
    requeue.context.add_cookies([{"name": "csrftoken", "value": "x" * 32, "url": requeue.url.partition("/ops/")[0]}])

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")

    assert requeue.locator("main#main").count() == 1
    assert requeue.inner_text("dialog #panel-title") == "Nothing was changed"
    assert "pod killed" in requeue.inner_text("dialog")
    reopen_and_send(requeue)


def test_an_ended_session_keeps_the_form_for_after_the_sign_in(requeue):
    person = User.objects.get(username="ana")
    person.set_password("correct horse battery")
    person.save()  # a new password ends the session

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")
    told = requeue.inner_text("dialog")
    with requeue.expect_popup() as opened:
        requeue.locator("dialog a", has_text="Sign in").click()
    tab = opened.value
    tab.fill("[name=username]", "ana")
    tab.fill("[name=password]", "correct horse battery")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("header [role=search]")
    requeue.click("dialog button.primary")
    requeue.wait_for_selector("text=The form expired")  # the sign-in renewed the form token of this site
    requeue.click("dialog button.primary")

    assert "signed out" in told
    assert "Your reason is kept: pod killed" in told
    requeue.wait_for_selector("text=Requeued. Attempt 1 stays recorded")


def test_a_sign_in_in_another_tab_reopens_the_form_with_its_reason(requeue):
    person = User.objects.get(username="ana")
    person.set_password("correct horse battery")
    person.save()  # a new password ends the session
    elsewhere = requeue.context.new_page()
    elsewhere.goto("/ops/")
    elsewhere.fill("[name=username]", "ana")
    elsewhere.fill("[name=password]", "correct horse battery")
    elsewhere.click("main button")
    elsewhere.wait_for_selector("header [role=search]")

    requeue.keyboard.press("Enter")
    requeue.wait_for_selector("dialog .attn")

    assert "The form expired" in requeue.inner_text("dialog")
    assert requeue.url.endswith("/ops/leases/")
    reopen_and_send(requeue)
