import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Role
from mailbox.background import jobs
from mailbox.inspection.health import report as health
from mailbox.life import leasing, results
from mailbox.models import ReplayEntry
from mailbox.repairs import auto_retry
from tests.support import browser, factories, talking
from tests.support.browser import browse, chromium, launched  # noqa: F401 (fixtures)
from tests.support.cast import *  # noqa: F403 (fixtures)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.stash[browser.FAILED] = True
    return report


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    """Shorten the wait for the write lock, because the transaction of a test holds that lock."""
    monkeypatch.setattr(health, "LOCK_WAIT", timedelta(milliseconds=5))


@pytest.fixture
def sign_in(db):
    """Return a function that makes a person of the given role and returns their browser."""

    def person(name, role):
        factories.person(name, role)
        client = Client()
        client.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
        return client

    return person


@pytest.fixture
def ana(sign_in):
    """The browser of an operator."""
    return sign_in("ana", Role.OPERATOR)


@pytest.fixture
def ben(sign_in):
    """The browser of another operator."""
    return sign_in("ben", Role.OPERATOR)


@pytest.fixture
def vic(sign_in):
    """The browser of a viewer."""
    return sign_in("vic", Role.VIEWER)


@pytest.fixture
def history(alice, bob):
    """Two resolved tasks and a cached result. Return the lease of the second task, which has an artifact."""
    factories.resolved_task(alice, bob)
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-7"), intent_text="pay the invoice")
    talking.told(bob, lease.task, "I look for it")
    talking.made(bob, lease.task, "a receipt")
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    assert ReplayEntry.objects.exists()
    return lease


@pytest.fixture
def lease(alice, bob):
    """The lease of a task for bob."""
    return factories.leased_task(alice, bob, intent_text="find a hotel")


@pytest.fixture
def talk(alice, bob, lease):
    """A task whose question was answered, and that is leased again."""
    talking.told(bob, lease.task, "I look", progress=0.4)
    talking.asked(bob, lease, "Which nights?")
    task = talking.said(alice, lease.task, "12 to 15 June")
    leasing.lease_task(bob, task.uuid)
    return task


@pytest.fixture
def auto_retry_on(settings):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "SCHEDULER": "1"}
    factories.grant(factories.caller_of(auto_retry.scheduler_agent()), "a2a.repair.requeue")
    jobs.register()


def path_of(task, rest=""):
    """Return the path of a task's page, or of what stands below it."""
    return f"/ops/tasks/{task.uuid}/{rest}"


def fields_of(response):
    """Return the hidden fields of the form that a page shows, as its browser would send them."""
    tags = re.findall(r"<input[^>]*type=\"hidden\"[^>]*>", response.text)
    found = [(re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)) for tag in tags]
    return {name[1]: value[1] for name, value in found if name and value}
