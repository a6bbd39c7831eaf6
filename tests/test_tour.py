"""The tour: its day keeps every invariant of the hub, its pages show the day, and its end leaves nothing."""

import importlib
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from types import ModuleType

import httpx
import psutil
import pytest
from django.utils import timezone

from mailbox.models import Agent, Lease, PushDelivery, RepairPlanRow, ReplayEntry, Result, RollUp, Task
from tests.support.hub import PATIENCE, ROOT, command_of, has_ended, wait_until
from tests.support.tables import Watch

pytestmark = pytest.mark.processes

TOUR = ROOT / "docs" / "tour"
PAGES = {
    "": "Needs a decision",
    "?range=24h": "Arrivals and results per 20 min",
    "charts/?range=24h": "Wait in queue",
    "tasks/?q=kind:plan-trip": "Plan a trip to",
    "tasks/?state=error": "Take a deposit of",
    "leases/": "Book the held seats",
    "results/?delivery=all": "Hold rooms in",
    "agents/": "visa-desk@local",
    "deliveries/": "old-crm.example",
    "idempotency/": "rates:",
    "repairs/": "flights-2 was OOM-killed",
    "audit/?q=actor:user:ana": "the card processor is down, INC-2207",
    "health/": "All 19 checks passed.",
}


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that plays the day."""
    monkeypatch.syspath_prepend(str(TOUR))
    return importlib.import_module("day")


@pytest.fixture
def lived(transactional_db: None, day: ModuleType) -> None:
    """Live the day in the test's database."""
    day.live(timezone.now())


@pytest.fixture
def tour() -> Iterator[subprocess.Popen[str]]:
    """Start the tour as `make` does, and stop it after the test."""
    process = subprocess.Popen(
        [sys.executable, "docs/tour/tour.py"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": "docs/demo", "PORT": "", "DATABASE_URL": ""},
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)


def said_by(process: subprocess.Popen[str]) -> str:
    """Return the tour's output up to the line that tells how to stop it."""
    said = ""
    assert process.stderr is not None
    while "Stop it with" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def sign_in(browser: httpx.Client, password: str) -> None:
    token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/ops/sign-in/").text)[0]
    form = {"username": "operator", "password": password, "csrfmiddlewaretoken": token, "next": "/ops/"}
    assert browser.post("/ops/sign-in/", data=form).url.path == "/ops/"


def test_the_day_keeps_every_invariant_and_has_every_kind_of_end_in_all_hours(lived: None) -> None:
    Watch().assert_sound()

    ends = Counter(Task.objects.values_list("outcome", flat=True))
    assert {"ok", "partial", "error", "rejected", "cancelled", "expired", None} == {*ends}
    assert ends["ok"] > 300
    assert {*Task.objects.unresolved().values_list("state", flat=True)} == {"queued", "in_flight", "interrupted"}
    assert {"requeue", "auto_requeue", "force_error", "asked"} <= {*Lease.objects.values_list("end", flat=True)}
    assert {*PushDelivery.objects.values_list("state", flat=True)} == {"delivered", "disabled"}
    assert {*RepairPlanRow.objects.values_list("outcome", flat=True)} == {"done"}
    assert Agent.objects.paused().count() == 1
    assert ReplayEntry.objects.filter(hits__gt=0).exists()
    assert not Result.objects.exclude(delivery="acked").exists()
    assert {minute.hour for minute in RollUp.objects.values_list("minute", flat=True)} == {*range(24)}


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            'does = "sweep"',
            'does = "swept"',
            "step 1 of the story sweeps, {'does': 'swept'}: no does is called 'swept'",
        ),
        ('"fail", reason', '"fail", why', "step 3 of the story given-up"),
        ('who = "jonas", does = "fail"', 'who = "jona", does = "fail"', "no who is called 'jona'"),
        ('answer = "few-seats"', 'answer = "no-seats"', "step 6 of the story dead-worker"),
        ('story = "collected"', 'story = "colected"', "no story is called 'colected'"),
        ('story = "prices", city = "Lisbon"', 'story = "prices", city = "Lisboa"', "step 1 of the story round"),
        ('at = "24:00"', 'at = "24"', "event {'at': '24', 'story': 'sweeps'}"),
        ('at = "4:10", story = "outage"', 'at = "4:10", story = "storm"', "event {'at': '4:10', 'story': 'storm'}"),
        ("[stories]", "[history]", "the file: KeyError('stories')"),
    ],
)
def test_a_day_with_bad_data_is_refused_by_the_name_of_its_event(
    day: ModuleType, right: str, wrong: str, message: str
) -> None:
    text = (TOUR / "day.toml").read_text()
    assert right in text

    with pytest.raises(day.DayError, match=f"^day.toml, .*{re.escape(message)}"):
        day.read(text.replace(right, wrong))


@pytest.mark.one_database
def test_a_step_that_fails_while_the_day_is_played_is_named(transactional_db: None, day: ModuleType) -> None:
    """The first trip sends a text of which it has no value."""
    text = (TOUR / "day.toml").read_text().replace("rates:{city.airport}:{now", "rates:{town.airport}:{now")

    with pytest.raises(day.DayError, match=r"^day.toml, step 1 of the story prices, .*KeyError\('town'\)"):
        day.Player(day.read(text), timezone.now()).play()


@pytest.mark.processes
@pytest.mark.one_database
def test_the_tour_shows_its_day_works_on_and_leaves_nothing(tour: subprocess.Popen[str]) -> None:
    before = {*(ROOT / "var").glob("tour-*")}
    said = said_by(tour)
    (url,), (password,) = (re.findall(rf"{word} +(\S+)", said) for word in ("Dashboard", "Password"))
    running = psutil.Process(tour.pid).children(recursive=True)
    programs = " ".join(word for one in running for word in command_of(one))

    with httpx.Client(base_url=url.removesuffix("/ops/"), follow_redirects=True, timeout=PATIENCE) as browser:
        sign_in(browser, password)
        shown = {path: browser.get(f"/ops/{path}") for path in PAGES}
        wait_until(lambda: "trip 230" in browser.get("/ops/results/?delivery=all&within=1h").text, every=0.5)
    tour.send_signal(signal.SIGINT)
    _, rest = tour.communicate(timeout=PATIENCE)

    assert {page.status_code for page in shown.values()} == {200}
    assert [path for path, words in PAGES.items() if words not in shown[path].text] == []
    assert [
        name for name in ("hotels", "writer", "payments", "planner") if f"colleague.py {name}" not in programs
    ] == []
    assert (tour.returncode, rest) == (0, "Stopped. The data of the tour are deleted.\n")
    wait_until(lambda: all(map(has_ended, running)))
    assert {*(ROOT / "var").glob("tour-*")} <= before
