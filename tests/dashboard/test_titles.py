import re

import pytest
from django.template.loader import render_to_string

from mailbox.access.callers import Role
from tests.dashboard.test_printed_commands import pages_of
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PLAIN = ("ops/locked_out.html", "ops/second_step.html", "500.html", "503.html")


def title_of(text):
    (title,) = re.findall(r"<title>(.*?)</title>", text.partition("</head>")[0], re.DOTALL)
    return title


@pytest.mark.deep
@pytest.mark.parametrize("environment", ["", "staging"])
def test_the_title_of_every_page_is_one_line(sign_in, client, settings, environment):
    settings.A2A_HUB_NAME, settings.A2A_ENVIRONMENT = "Hub of Ana", environment
    hub.on_fire()
    plain = {name: render_to_string(name, {"preferences": None, "hub": "Hub of Ana"}) for name in PLAIN}
    plain["sign-in"] = client.get("/ops/sign-in/").text
    ada = sign_in("ada", Role.ADMIN)
    paths = ("/ops/nowhere/", "/ops/tasks/?q=foo:bar", "/admin/", "/admin/mailbox/agent/")
    pages = {**plain, **{path: ada.get(path).text for path in paths}, **dict(pages_of(ada))}

    titles = {path: title_of(text) for path, text in pages.items() if "<html" in text}  # no parts of pages

    assert len(titles) > 40
    assert {path: title for path, title in titles.items() if "\n" in title} == {}
    assert titles["/ops/map/"].rstrip() == f"(6) Map · Hub of Ana {environment}".rstrip()
