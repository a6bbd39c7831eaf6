"""Every page, dialog and panel is accessible, in both themes, wide and narrow, for operators and for viewers."""

import uuid

import pytest
from django.urls import reverse

from dashboard import urls
from mailbox.access.callers import Role
from mailbox.life import leasing, results
from mailbox.models import AuditEvent, Failure, PushDelivery, ReplayEntry
from mailbox.repairs import auto_retry, repair
from mailbox.upkeep import failure_filing
from mailbox.words import errors
from mailbox.words.envelopes import ResultStatus
from mailbox.words.kinds import Kind
from tests.support import factories, media, talking
from tests.support.axe import FITS, NARROW, WIDE, Examiner, violations, violations_in_the_dark
from tests.support.browser import stale
from tests.support.plans import carried_out, leased, planned

NO_PAGES = {"sign-in", "sign-out", "go", "suggest", "favicon", "health-text"}
WITHOUT_ROWS = {"/ops/help/", "/ops/settings/"}
PLAIN = [one for one in urls.urlpatterns if "<" not in str(one.pattern) and one.name not in NO_PAGES]
ODD = f"<b>\u202eodd\u202c</b> {'x' * 200}"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def pages():
    return [f"/ops/{one.pattern}" for one in PLAIN]


@pytest.fixture
def row_pages(alice, bob, olga):
    """Create at least one row of each kind that has a page. Return the paths of those pages."""
    kept = factories.leased_task(
        alice, bob, idempotency=factories.idempotent("inv-7"), callback_url="https://x.example/"
    )
    results.post_result(bob, factories.result_envelope(kept.task, lease_id=kept.lease_id))
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message=ODD, content=[])
    failure_filing.file_failures()
    lease = stale(alice, bob, intent_text=ODD)
    plan = planned(olga, leased(alice, bob, safe=1, unsafe=1))
    auto_retry.run_once(olga, reason="to see what it does", worded=errors.text_for_person)
    carried_out(olga, planned(olga, leased(alice, bob, safe=1)))
    factories.sent_task(alice, bob, parent=lease.task.uuid, intent_text=ODD)
    ended = kept.task.leases.get()
    asking = leasing.lease_task(bob, factories.sent_task(alice, bob, intent_text=ODD).uuid)
    talking.told(bob, asking.task, ODD, progress=0.5)
    table = {"type": "json", "value": {"a": 1, ODD: [ODD]}}
    talking.made(bob, asking.task, ODD, table, media.picture(), media.sound(), name=ODD, metadata={"k": ODD})
    talking.said(alice, asking.task, ODD, message_id=ODD)
    talking.asked(bob, asking, ODD, metadata={"k": ODD})
    return [
        reverse("ops:task", args=[asking.task.uuid]),
        reverse("ops:lease", args=[asking.lease_id]),
        reverse("ops:force-error", args=[asking.lease_id]),
        reverse("ops:requeue", args=[asking.lease_id]),  # the conflict panel of a question
        f"{reverse('ops:tree', args=[asking.task.uuid])}?focus={asking.task.uuid}",
        reverse("ops:task", args=[lease.task.uuid]),
        reverse("ops:task-diff", args=[kept.task.uuid]),
        f"/ops/send/?copy={kept.task.uuid}",
        reverse("ops:lease", args=[lease.lease_id]),
        reverse("ops:requeue", args=[lease.lease_id]),
        reverse("ops:force-error", args=[lease.lease_id]),
        reverse("ops:requeue", args=[ended.lease_id]),  # the conflict panel
        reverse("ops:requeue", args=[uuid.UUID(int=7)]),
        f"{reverse('ops:tree', args=[lease.task.uuid])}?focus={lease.task.uuid}",
        *(reverse("ops:plan", args=[number]) for number in (plan.pk, plan.pk + 1)),
        *(reverse("ops:scan", args=[scan.pk]) for scan in factories.journal(Kind.AUTO_RETRY_SCAN)),
        reverse("ops:audit-event", args=[AuditEvent.objects.latest("pk").pk]),
        reverse("ops:agent", args=["bob@local"]),
        reverse("ops:failure", args=[Failure.objects.get().fingerprint]),
        reverse("ops:cached-result", args=[ReplayEntry.objects.get().pk]),
        reverse("ops:delivery", args=[PushDelivery.objects.get().delivery_id]),
        "/ops/go/?id=cd53…2a87",
        "/ops/leases/?q=colour:red",
    ]


@pytest.mark.smoke
def test_each_page_is_accessible_in_the_light_theme(browse, row_pages):
    operator, examiner = browse("ana"), Examiner()

    for path in [*pages(), *row_pages]:
        examiner.glance(operator, path)


def test_pages_are_accessible_and_fit_the_window(browse, row_pages):
    operator, viewer, examiner = browse("ana"), browse("vic", Role.VIEWER), Examiner()

    for path in [*pages(), *row_pages]:
        examiner.look(viewer, path, like=examiner.look(operator, path))


PAGE = "<!doctype html><html lang=en><title>Page</title><style>{}</style><main><h1>Dark</h1><p>{}</p></main>"


@pytest.mark.parametrize(
    ("theme", "where"), [(":root", "'contrast'"), (":root[data-theme=dark]", "'contrast in the dark'")]
)
def test_the_examiner_reports_low_contrast_of_a_new_style(browse, theme, where):
    page, examiner, rule = browse("ana"), Examiner(), f"{theme} b {{ color: #bbb }}"
    page.route("**/ops/help/", lambda to: to.fulfill(body=PAGE.format(rule, "dark"), content_type="text/html"))
    page.route("**/ops/audit/", lambda to: to.fulfill(body=PAGE.format(rule, "<b>pale</b>"), content_type="text/html"))

    examiner.look(page, "/ops/help/")

    with pytest.raises(AssertionError, match=where):
        examiner.look(page, "/ops/audit/")


def test_the_sign_in_page_is_accessible(browse):
    page = browse("ana")
    page.context.clear_cookies()

    Examiner().look(page, "/ops/sign-in/")

    assert page.locator("[name=password]").is_visible()


def test_empty_pages_are_accessible_and_fit_320_pixels(browse):
    page = browse("ana", width=320)

    for path in set(pages()) - WITHOUT_ROWS:
        page.goto(path)
        assert violations(page) == [], path
        assert page.evaluate(FITS), path


def test_pages_of_a_thousand_rows_are_accessible(browse, alice, bob):
    root = factories.sent_task(alice, bob)
    for _ in range(999):
        factories.sent_task(alice, bob, parent=root.uuid, task_kind="fetch")
    leasing.lease_tasks(bob, limit=1000)
    page, examiner = browse("ana"), Examiner()

    for path in ("", "leases/", "tasks/", "audit/", f"trees/{root.uuid}/?open={root.uuid}.0:50"):
        examiner.look(page, f"/ops/{path}", in_the_dark=False)  # other tests check the colours of such rows


def test_dialogs_and_panels_are_accessible_and_return_the_focus(browse, alice, bob, olga):
    lease = stale(alice, bob)
    page = browse("ana")

    for verb in ("Requeue", "Force error"):
        page.goto("/ops/leases/")
        for width in (*NARROW, WIDE):
            page.set_viewport_size({"width": width, "height": 900})
            page.locator("td a", has_text=verb).click()
            page.wait_for_selector("dialog[open] form")
            assert violations(page, contrast=width == WIDE) == [], (verb, width)
            if width == WIDE:
                assert violations_in_the_dark(page) == [], verb
            page.keyboard.press("Escape")
            assert verb in page.evaluate("document.activeElement.textContent")
    page.goto("/ops/leases/")
    page.locator("td a", has_text="Force error").click()
    page.fill("dialog [name=reason]", "looks dead to me")
    repair.force_error(olga, lease.task.uuid, reason="pod lost", message="lost", lease_id=lease.lease_id)
    page.click("dialog button[data-submit]")
    page.wait_for_selector("dialog .conflict")
    for width in (*NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page, contrast=width == WIDE) == [], width
    assert violations_in_the_dark(page) == []


@pytest.mark.parametrize("width", [1440, 320])
def test_the_tab_key_reaches_visible_controls_in_page_order(browse, row_pages, width):
    page = browse("ana", width=width)

    for path in ("/ops/", "/ops/leases/", next(one for one in row_pages if "trees" in one)):
        page.goto(path)
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            name, is_seen = page.evaluate(REACHED)
            if name is None:
                break
            reached.append(name)
            assert is_seen, (path, name)
        assert reached[0] == "Skip to content", path
        assert len(reached) == len(set(reached)), path
        assert page.evaluate(IN_ORDER), path


REACHED = """() => {
  const one = document.activeElement, box = one.getClientRects()[0];
  if (one === document.body) return [null, true];
  window.reached = [...(window.reached || []), one];
  const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const whole = one.closest('svg') || one;
  const name = one.tagName + (one.id || one.name || one.getAttribute('href') || '') + window.reached.length;
  return [one.matches('.skip') ? 'Skip to content' : name, !!at && (whole.contains(at) || at.contains(one))];
}"""
IN_ORDER = """() => window.reached.every((one, at, all) =>
  !at || !!(all[at - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING))"""
