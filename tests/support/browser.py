"""A browser for tests: a person's session in the system's Chromium, in which no page may log an error."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from mailbox.gate.callers import Role
from mailbox.models import Lease
from tests.support import factories

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CHECK = """([tags, contrast]) => axe.run(document, {
  runOnly: {type: 'tag', values: tags}, rules: {'color-contrast': {enabled: contrast}},
  resultTypes: ['violations'], preload: false,
}).then(found => found.violations)"""
FAILED = pytest.StashKey[bool]()
LOOK = """() => ({
  address: location.href, focus: document.activeElement.outerHTML.slice(0, 300), events: window.events,
  dialog: document.querySelector('dialog')?.outerHTML.slice(0, 5000), text: document.body.innerText.slice(0, 2000),
})"""
WATCH = """window.events = []; for (const name of ['keydown', 'click', 'submit']) addEventListener(name, e => {
  events.push(`${name} ${e.key || ''} at ${e.target.outerHTML.slice(0, 80)}`);
}, true);"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "there is no Chromium: .ci/run installs one"
        warnings.warn("NO BROWSER TESTS: there is no Chromium on this machine", pytest.PytestWarning, stacklevel=1)
        pytest.skip("there is no Chromium on this machine")
    # Playwright keeps an event loop in this thread, in which Django would refuse its ordinary work.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            yield browser
            browser.close()


@pytest.fixture
def browse(request, chromium, live_server):
    """Return a function that opens the browser of a person; no page may log an error or break the policy.

    With ``may_fail``, errors may be logged, and requests be made to fail by `Page.route` at any time. The report of
    a test that failed tells what the pages show, and what they asked for.
    """
    asked: list[str] = []
    said: list[str] = []
    contexts = []

    def opened(name, role=Role.OPERATOR, *, theme="light", width=1440, live=0, may_fail=False):
        user = User.objects.filter(username=name).first()
        if user is None:
            factories.person(name, role)
            user = User.objects.get(username=name)
        session = Client()
        session.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        context = chromium.new_context(viewport={"width": width, "height": 900}, base_url=live_server.url)
        context.add_cookies(
            [
                {"name": "sessionid", "value": session.cookies["sessionid"].value, "url": live_server.url},
                {"name": "ops_theme", "value": theme, "url": f"{live_server.url}/ops/"},
                {"name": "ops_live", "value": str(live), "url": f"{live_server.url}/ops/"},
            ]
        )
        contexts.append(context)
        context.add_init_script(WATCH)
        context.on("request", lambda sent: asked.append(f"{sent.method} {sent.url}"))
        context.on("requestfinished", lambda sent: asked.append(f"answered {sent.method} {sent.url}"))
        context.on("requestfailed", lambda sent: asked.append(f"failed {sent.method} {sent.url}: {sent.failure}"))
        page = context.new_page()
        if may_fail:
            # A request that begins while the browser is told to intercept may pass; so it is told before there is one.
            page.route("**/*", lambda route: route.fallback())
        else:
            page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    yield opened
    if request.node.stash.get(FAILED, False):
        shown = [str(page.evaluate(LOOK)) for context in contexts for page in context.pages]
        request.node.add_report_section("teardown", "pages", "\n".join([*asked, *shown]))
    for context in contexts:
        context.close()
    assert [text for text in said if "status of 4" not in text] == []


def violations(page, *, contrast=True):
    """Return what is wrong with a page; colours, which take the longest to hold up, only with ``contrast``."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = page.evaluate(CHECK, [TAGS, contrast])
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]


def stale(alice, bob, **fields):
    lease = factories.leased_task(alice, bob, **fields)
    Lease.objects.filter(pk=lease.pk).update(leased_at=timezone.now() - timedelta(minutes=41))
    return lease
