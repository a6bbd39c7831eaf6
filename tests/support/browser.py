"""A browser for tests: sessions of people in the system's Chromium, in which pages must not log errors."""

import asyncio
import shutil
from asyncio import AbstractEventLoop
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from mailbox.access.callers import Role
from mailbox.models import Lease
from tests.support import factories

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the first one is the fastest
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 90_000  # milliseconds; enough for a busy machine
FAILED = pytest.StashKey[bool]()
LOOK = """() => ({
  address: location.href, focus: document.activeElement.outerHTML.slice(0, 300), events: window.events,
  dialog: document.querySelector('dialog')?.outerHTML.slice(0, 5000), text: document.body.innerText.slice(0, 2000),
})"""
WATCH = """window.events = []; for (const name of ['keydown', 'click', 'submit']) addEventListener(name, e => {
  events.push(`${name} ${e.key || ''} at ${e.target.outerHTML.slice(0, 80)}`);
}, true);"""


@pytest.fixture(scope="session")
def launched() -> Iterator[tuple[Any, AbstractEventLoop | None]]:
    """Return the session's one Chromium and Playwright's event loop. Only `chromium` may use them."""
    assert CHROMIUM, "there is no Chromium on this machine"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE)
        loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def chromium(launched: tuple[Any, AbstractEventLoop | None]) -> Iterator[Any]:
    """Return Chromium. Playwright's event loop counts as running in this thread only until the test ends.

    Django refuses its ordinary work in a thread whose loop runs, so the test allows it. Tests without a browser see
    neither the loop nor the permission.
    """
    browser, loop = launched
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        asyncio._set_running_loop(loop)
        yield browser
        asyncio._set_running_loop(None)


@pytest.fixture
def browse(request, chromium, live_server):
    """Return a function that opens a page for a person. Pages must not log errors or violate the content policy.

    With ``may_fail``, pages may log errors, and tests may make requests fail by `Page.route` at any time. ``scripts``
    False: pages run no scripts. If a test fails, its report shows the pages and their requests.
    """
    requests: list[str] = []
    errors: list[str] = []
    contexts = []

    def opened(name, role=Role.OPERATOR, *, theme="light", width=1440, live=0, may_fail=False, scripts=True):
        user = User.objects.filter(username=name).first()
        if user is None:
            factories.person(name, role)
            user = User.objects.get(username=name)
        session = Client()
        session.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            base_url=live_server.url,
            color_scheme=theme,
            java_script_enabled=scripts,
        )
        context.set_default_timeout(PATIENCE)
        context.add_cookies(
            [
                {"name": "sessionid", "value": session.cookies["sessionid"].value, "url": live_server.url},
                {"name": "ops_theme", "value": theme, "url": f"{live_server.url}/ops/"},
                {"name": "ops_live", "value": str(live), "url": f"{live_server.url}/ops/"},
            ]
        )
        contexts.append(context)
        context.add_init_script(WATCH)
        context.on("request", lambda sent: requests.append(f"{sent.method} {sent.url}"))
        context.on("requestfinished", lambda sent: requests.append(f"answered {sent.method} {sent.url}"))
        context.on("requestfailed", lambda sent: requests.append(f"failed {sent.method} {sent.url}: {sent.failure}"))
        page = context.new_page()
        if may_fail:
            # Interception starts before the first request: a request that begins while it starts could slip through.
            page.route("**/*", lambda route: route.fallback())
        else:
            page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield opened
    if request.node.stash.get(FAILED, False):
        shown = [str(page.evaluate(LOOK)) for context in contexts for page in context.pages]
        request.node.add_report_section("teardown", "pages", "\n".join([*requests, *shown]))
    for context in contexts:
        context.close()
    assert [text for text in errors if "status of 4" not in text] == []


def stale(alice, bob, **fields):
    lease = factories.leased_task(alice, bob, **fields)
    Lease.objects.filter(pk=lease.pk).update(leased_at=timezone.now() - timedelta(minutes=41))
    return lease
