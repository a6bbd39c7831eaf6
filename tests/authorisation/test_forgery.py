"""Every form needs the token that only the hub's own pages carry."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Role
from tests.authorisation import requests, routes
from tests.authorisation.world import World
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

FORMS = sorted(route for route, section in routes.served().items() if section in ("pages", "admin"))


@pytest.fixture
def browser(db: None) -> Client:
    factories.person("root", Role.ADMIN)
    User.objects.update(is_staff=True, is_superuser=True)
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="root"), backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_no_form_is_taken_without_the_token_of_its_page(browser: Client) -> None:
    hub = World()

    answers = {
        route: browser.post(
            requests.path_of(route, hub), requests.body_of("POST", route, hub)[0], "application/x-www-form-urlencoded"
        ).status_code
        for route in FORMS
    }

    assert len(answers) > 100
    assert {route for route, status in answers.items() if status != 403} == set()
