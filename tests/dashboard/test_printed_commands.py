"""The program of each command that a page prints accepts the command."""

import html
import re
import shlex
from collections import Counter
from urllib.parse import urlsplit

import pytest
from django.template.loader import render_to_string
from django.urls import resolve

from mailbox.access.callers import Role
from mailbox.life import leasing, results
from mailbox.models import Agent, PushDelivery
from tests.support import factories
from tests.support.plans import leased, planned
from tests.support.printed_commands import Commands, UnknownCommandError, parse
from tests.support.terminals import CommandLine
from tools.screenshots import hub

OF_ROUTE = 3  # pages of one route that are looked at
LINK = re.compile(r'(?:href|hx-get)="((?:/ops/|\?)[^"#]*)')
FIRST_RUN = ("a2a agent add planner", "a2a task send hotels 'Book a hotel'", "a2a result next")
NO_PAGES = {"sign-out", "audit-twin", "favicon"}

pytestmark = pytest.mark.django_db


def pages_of(browser):
    """Yield the address and the text of the pages that links lead to from the overview."""
    left, seen = ["/ops/"], {"/ops/"}
    of_route: Counter[str] = Counter()
    while left:
        path = left.pop(0)
        route = str(resolve(urlsplit(path).path).url_name)
        if of_route[route] == OF_ROUTE or route in NO_PAGES or route.endswith("-twin"):
            continue
        of_route[route] += 1
        response = browser.get(path)
        if not response.get("Content-Type", "").startswith("text/html"):
            continue
        yield path, response.text
        for link in LINK.findall(response.text):
            found = html.unescape(link)
            found = f"{urlsplit(path).path}{found}" if found.startswith("?") else found
            if found not in seen:
                seen.add(found)
                left.append(found)


def printed_on(browser):
    """Return the commands of all pages. Each is marked, and its program accepts it."""
    printed = {}
    for path, text in pages_of(browser):
        commands = Commands(text)
        assert commands.unmarked == [], path
        for words in commands:
            parse(words)
            printed[shlex.join(words)] = path
    return printed


@pytest.fixture
def ada(sign_in):
    return sign_in("ada", Role.ADMIN)


def test_an_empty_hub_prints_commands_that_run(ada):
    printed = printed_on(ada)

    assert set(FIRST_RUN) <= set(printed)


@pytest.mark.deep
def test_a_calm_hub_prints_commands_that_run(ada):
    hub.calm()

    assert {words.split()[0] for words in printed_on(ada)} == {"a2a", "manage.py", "curl"}


@pytest.mark.deep
def test_a_hub_on_fire_prints_commands_that_run(ada, alice, bob, olga):
    hub.on_fire()
    planned(olga, leased(alice, bob, safe=1, unsafe=1))
    told = factories.leased_task(
        alice, bob, idempotency=factories.idempotent("inv-7"), callback_url="https://x.example/"
    )
    results.post_result(bob, factories.result_envelope(told.task, lease_id=told.lease_id))
    PushDelivery.objects.update(state=PushDelivery.State.DISABLED)

    printed = " ".join(printed_on(ada))

    for verb in ("task requeue", "task fail", "retry-stale", "delivery resend", "/replay-entries/drop"):
        assert verb in printed


def test_pages_without_a_person_print_commands_that_run(client):
    known = [client.get("/ops/sign-in/").text]
    known += [render_to_string(f"ops/{name}.html", {"preferences": None}) for name in ("locked_out", "second_step")]

    for page in known:
        commands = Commands(page)
        assert list(commands)
        assert commands.unmarked == []
        for words in commands:
            parse(words)


@pytest.mark.django_db(transaction=True)
@pytest.mark.one_database
def test_the_commands_of_a_first_run_succeed_in_the_order_of_the_work(served_hub, tmp_path, sign_in):
    admin, ada = sign_in("ada", Role.ADMIN), factories.person("adam", Role.ADMIN)
    a2a = CommandLine(url=served_hub.url, config=tmp_path / "config.toml")
    printed = printed_on(admin)
    assert set(FIRST_RUN) <= set(printed)
    add, send, receive = (shlex.split(words)[1:] for words in FIRST_RUN)

    succeed(a2a(*add, by=ada))
    planner = factories.caller_of(Agent.objects.get(local="planner"))
    factories.grant(planner, "a2a.send.*")
    hotels = factories.agent("hotels", "a2a.respond.*")
    succeed(a2a(*send, by=planner))
    (lease,) = leasing.lease_tasks(hotels)
    results.post_result(hotels, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    succeed(a2a(*receive, by=planner))

    assert lease.task.intent_text == "Book a hotel"


def succeed(ran):
    assert ran.code == 0, ran


@pytest.mark.parametrize(
    "printed",
    [
        "a2a drain --as planner",
        "a2a recv --as hotels",
        "a2a task send --to hotels",
        "a2a work hotels",
        "manage.py a2a drain --as planner",
        "manage.py nothing",
        "curl http://hub/a2a/nothing",
        "curl -X POST http://hub/a2a/agents/x/pause -d '{'",
        "a2ab",
    ],
)
def test_the_parser_refuses_what_no_program_accepts(printed):
    with pytest.raises(UnknownCommandError):
        parse(shlex.split(printed))


def test_a_command_in_prose_is_found():
    page = "<p>Run a2a agent add x, or manage.py serve</p><code data-command>a2a result next</code>"

    assert Commands(page).unmarked == ["a2a agent", "manage.py serve"]
