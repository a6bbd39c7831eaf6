"""Screenshots of the dashboard in both themes and two widths, taken by `make screenshots`."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from mailbox.access.callers import Caller, Role
from mailbox.access.people import saved_views
from mailbox.inspection import trees
from mailbox.models import AuditEvent, Failure, Lease, Task
from mailbox.repairs import auto_retry
from mailbox.upkeep import failure_filing
from mailbox.words import errors
from tests.support import factories
from tests.support.plans import carried_out, planned
from tools.screenshots import deliveries, hub

FOLDER = Path(__file__).resolve().parent.parent.parent / "screenshots"
THEMES = ("light", "dark")
WIDTHS = (1440, 390)
VIEWS = (
    ("tasks", "Failed", "q=state%3Aerror"),
    ("tasks", "Slow bookings", "q=to%3Ahotels+age%3A%3E10m"),
    ("audit", "Repairs", "q=kind%3Aa2a_repair_%2A"),
)
TICK = "document.dispatchEvent(new Event('visibilitychange'))"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def take(browse):
    """Return a function that opens a path in each theme and width, calls ``act`` on it and takes a screenshot."""
    FOLDER.mkdir(exist_ok=True)

    def taken(name, path, act=None, *, person="ana", role=Role.OPERATOR, live=0, may_fail=False, whole=True):
        for theme in THEMES:
            page = browse(person, role, theme=theme, live=live, may_fail=may_fail)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(path if path.startswith("/") else f"/ops/{path}")
                if act:
                    act(page)
                page.screenshot(path=FOLDER / f"{name}-{theme}-{width}.png", full_page=whole)
            page.context.close()

    return taken


def searching(page):
    page.keyboard.press("Control+k")
    page.keyboard.type("s")
    page.wait_for_selector("#suggestions a:has-text('Slow bookings')")


def test_an_empty_hub(take):
    take("overview-empty", "")
    take("leases-empty", "leases/")
    take("settings", "settings/")
    take("help", "help/")
    take("not-found", "go/?id=cd53…2a87")


def test_a_calm_hub(take):
    hub.calm()

    take("overview-calm", "")
    take("charts", "charts/")
    take("tasks", "tasks/")
    take("results", "results/")
    take("agents", "agents/")
    take("agent", "agents/hotels@local/")
    take("failures", "failures/")
    take("pause", "agents/hotels@local/", lambda page: page.click("#pausing summary"))
    take("map", "map/")
    person = User.objects.get(username="ana")
    caller = Caller(name="user:ana", source=AuditEvent.Source.DASHBOARD, role=Role.OPERATOR)
    for page_name, name, query in VIEWS:
        saved_views.save(caller, person, page=page_name, name=name, query=query, is_shared=name == "Failed")
    take("views", "views/")
    take("tasks-view", "tasks/?state=error", lambda page: page.click(".saved summary"))
    take("palette", "tasks/", searching, whole=False)
    hub.on_show()
    take(
        "official-card",
        "agents/hotels@local/",
        lambda page: page.click("#official summary"),
        person="ada",
        role=Role.ADMIN,
    )
    take("close-agent", "agents/hotels@local/close/", person="ada", role=Role.ADMIN)
    take("open-agent", "agents/flights@local/open/", person="ada", role=Role.ADMIN)
    for tab in ("agents", "grants", "keys", "people"):
        take(f"access-{tab}", f"access/?show={tab}", person="ada", role=Role.ADMIN)
    take("send", "send/")
    take(
        "menu",
        "tasks/",
        lambda page: page.locator("header .menu").is_visible() and page.click("header .menu"),
        whole=False,
    )


def test_a_hub_on_fire(take):
    scene = hub.on_fire()
    lease = Lease.objects.live().get(task__intent_text="Book hotel in Lisbon")

    def held(page):
        for box in page.locator("#rows tbody input[type=checkbox]").all()[:3]:
            box.check()
        with scene.ago(seconds=1):
            scene.lease(scene.send("planner", "scraper", "Fetch rates for October"))
        page.evaluate(TICK)
        page.wait_for_selector("[data-changed]:not([hidden])")

    def requeued(page):
        page.locator("tr", has_text="Book hotel in Lisbon").locator("a", has_text="Requeue").click()
        page.wait_for_selector("dialog[open] form")

    def cut_off(page):
        page.route("**/ops/leases/", lambda route: route.abort())
        for _ in range(3):
            page.evaluate(TICK)
            page.wait_for_timeout(100)
        page.wait_for_selector("[data-offline-since]:not([hidden])")
        page.unroute("**/ops/leases/")

    take("overview-on-fire", "")
    take("leases-stale", "leases/?state=stale")
    take("lease", f"leases/{lease.lease_id}/")
    take("requeue-unsafe", "leases/", requeued, whole=False)
    take("requeue-page", f"leases/{lease.lease_id}/requeue/")
    take("viewer", "leases/", person="vic", role=Role.VIEWER)
    take("scheduler", "scheduler/")
    take("scheduler-dry-run", "scheduler/dry-run/")
    take("audit-filtered", "audit/?q=kind:a2a_task_*")
    take("health-degraded", "health/")
    take("leases-held", "leases/", held, live=5)
    take("offline", "leases/", cut_off, live=5, may_fail=True, whole=False)


def test_repairs(take):
    scene = hub.on_fire()
    stale = list(Lease.objects.live().filter(holder__local="scraper").with_task().oldest_first())
    plan = planned(scene.operator, stale, query="agent:scraper state:stale")
    late = planned(scene.operator, stale)
    scene.answer(stale[3])
    scene.requeue(stale[4], "pod restarted")
    scene.requeue(stale[5], "pod restarted")
    scene.lease(stale[4].task)
    done = carried_out(scene.operator, late, with_unsafe=True, typed=len(stale))
    run = auto_retry.run_once(
        replace(factories.person("ben", Role.OPERATOR), request_id="noon"),
        reason="rates are wanted by noon",
        worded=errors.text_for_person,
    )

    take("bulk-preview", f"repairs/{plan.pk}/")
    take("bulk-receipt", f"repairs/{done.pk}/")
    take("repairs", "repairs/")
    take("conflict", f"leases/{stale[4].lease_id}/requeue/?reason=looks+dead+to+me")
    take("scan", f"scheduler/scans/{run.pk}/")
    take("audit-event", f"audit/{run.pk}/")
    take("idempotency", "idempotency/")


def test_callbacks(take):
    given_up = deliveries.calling_back()

    take("overview-calling-back", "")
    take("deliveries", "deliveries/")
    take("delivery", f"deliveries/{given_up.delivery_id}/")
    take("resend-many", "deliveries/resend/?everything=1")


def test_failures_and_copies(take):
    hub.on_fire()
    failure_filing.file_failures()
    failure = Failure.objects.filter(agent__local="payments").latest("pk")
    task = Task.objects.filter(failure=failure).get()

    def planned_copies(page):
        page.get_by_role("button", name="Preview send again").click()
        page.wait_for_url("**/repairs/**")

    take("failure", f"failures/{failure.fingerprint}/")
    take("copies", f"failures/{failure.fingerprint}/", planned_copies)
    take("task-failed", f"tasks/{task.uuid}/")
    take("send-a-copy", f"send/?copy={task.uuid}")


def test_a_task_after_three_attempts(take):
    task = hub.thrice_leased()

    take("task-3-attempts", f"tasks/{task.uuid}/")
    take("comparison", f"tasks/{task.uuid}/diff/")


def test_the_palette(take):
    hub.calm()

    def suggesting(page):
        page.keyboard.press("Control+k")
        page.keyboard.type("hotel")
        page.wait_for_selector("#suggestions a")

    take("palette", "tasks/", suggesting, whole=False)


def test_conversations(take):
    open_question, answered, authorization = hub.conversing()

    def opened(page):
        for artifact in page.locator("details.artifact:not([open])").all():
            artifact.locator("summary").first.click()
        for branch in page.locator(".json summary").all():
            branch.click()

    take("overview-conversing", "")
    take("tasks-conversing", "tasks/")
    take("tasks-interrupted", "tasks/?state=interrupted")
    take("task-interrupted", f"tasks/{open_question.uuid}/")
    take("task-authorization", f"tasks/{authorization.uuid}/")
    take("task-conversation", f"tasks/{answered.uuid}/", opened)
    take("lease-that-asked", f"leases/{open_question.leases.get().lease_id}/")
    take("force-error-question", f"leases/{open_question.leases.get().lease_id}/force-error/")
    take("tree-of-a-conversation", f"trees/{answered.uuid}/")
    take("agent-that-asks", "agents/hotels@local/")
    take("agent-that-is-asked", "agents/planner@local/")
    take("help-states", "help/")


def test_trees(take):
    root = hub.tree_of_six()
    booking = next(one.task.uuid for one in trees.members(root.uuid, limit=9) if one.opening == "Book hotel")

    take("trees", "trees/")
    take("tree-of-6", f"trees/{root.uuid}/")
    take("tree-zoomed", f"trees/{root.uuid}/?from=60000&to=240000")
    take("tree-focused", f"trees/{root.uuid}/?focus={booking}&q=flights")


def test_a_tree_of_hundreds(take):
    root = hub.tree_of_many()

    take("tree-of-500", f"trees/{root.uuid}/")
    take("tree-of-500-opened", f"trees/{root.uuid}/?open={root.uuid}.0")


def test_without_scripts_and_without_a_session(take, browse):
    hub.on_fire()
    User.objects.create_superuser("root")
    take("admin", reverse("admin:mailbox_auditevent_changelist"), person="root", role=Role.ADMIN)
    take("admin-index", reverse("admin:index"), person="root", role=Role.ADMIN)

    for width in WIDTHS:
        page = browse("ana", width=width, scripts=False)
        for name in ("leases-no-js", "sign-in"):
            page.goto("/ops/leases/")
            page.screenshot(path=FOLDER / f"{name}-{width}.png", full_page=True)
            page.context.clear_cookies()


def test_on_paper_and_in_forced_colours(browse):
    scene = hub.on_fire()
    plan = planned(scene.operator, list(Lease.objects.live().with_task()))
    page = browse("ana")

    for name, path in {"audit": "audit/", "receipt": f"repairs/{plan.pk}/"}.items():
        page.emulate_media(media="print")
        page.goto(f"/ops/{path}")
        page.screenshot(path=FOLDER / f"{name}-print.png", full_page=True)
    page.emulate_media(media="screen", forced_colors="active")
    page.goto("/ops/leases/")
    page.screenshot(path=FOLDER / "leases-forced-colours.png")
