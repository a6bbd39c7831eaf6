from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mailbox.callers import Role
from tests import factories
from tests.cast import *  # noqa: F403 (fixtures)
from tests.dashboard.browser import browse, chromium  # noqa: F401 (fixtures)


@pytest.fixture
def sign_in(db):
    """Return a function that makes a person of the given role and returns their browser."""

    def person(name, role):
        factories.person(name, role)
        browser = Client()
        browser.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
        return browser

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


def fields_of(response):
    """Return the hidden fields of the form that a page shows, as its browser would send them."""
    tags = re.findall(r"<input[^>]*type=\"hidden\"[^>]*>", response.text)
    found = [(re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)) for tag in tags]
    return {name[1]: value[1] for name, value in found if name and value}
