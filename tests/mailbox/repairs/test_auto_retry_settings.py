import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django_q.models import Schedule

from mailbox import checks
from mailbox.background import jobs
from mailbox.database import timetable
from mailbox.repairs import auto_retry
from mailbox.repairs.auto_retry import AutoRetry, BadSettingError
from mailbox.repairs.retry import RetryPolicy
from tests.support import factories
from tests.support.hub import PATIENCE, ROOT
from tests.support.settings import UNSET, settings_of

DEFAULTS = {
    "SCHEDULER": "0",
    "INTERVAL_MS": "60000",
    "MIN_LEASE_AGE_MS": "300000",
    "MAX_ATTEMPTS": "3",
    "MAX_REQUEUES": "1",
    "SCAN_LIMIT": "100",
}


def in_a_fresh_process(tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=os.environ | UNSET | {"A2A_VAR": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture
def given(tmp_path, settings):
    """Return a function that reads the scheduler's settings from these variables, and lets them hold in the test."""

    def given(**environment: str) -> dict[str, str]:
        read = settings_of(A2A_VAR=str(tmp_path), **environment)
        settings.A2A_AUTO_RETRY, settings.A2A_ENVIRONMENT_READ = read.A2A_AUTO_RETRY, read.A2A_ENVIRONMENT_READ
        return dict(read.A2A_AUTO_RETRY)

    return given


@pytest.mark.one_database
def test_without_settings_the_scheduler_is_off_with_the_documented_bounds(given):
    assert given() == DEFAULTS
    assert AutoRetry.from_settings() == AutoRetry(policy=RetryPolicy(), interval=timedelta(minutes=1))


@pytest.mark.one_database
@pytest.mark.parametrize("prefix", ["A2A_AUTO_RETRY_", "COVENANT_A2A_AUTO_RETRY_"])
def test_every_setting_is_read_under_both_spellings(given, prefix):
    wanted = dict(zip(DEFAULTS, ["yes", "120000", "1", "2", "3", "4"], strict=True))

    given(**{f"{prefix}{name}": value for name, value in wanted.items()})

    policy = RetryPolicy(
        enabled=True, min_lease_age=timedelta(milliseconds=1), max_attempts=2, max_requeues=3, scan_limit=4
    )
    assert AutoRetry.from_settings() == AutoRetry(policy=policy, interval=timedelta(minutes=2))


@pytest.mark.one_database
def test_the_hubs_own_spelling_of_a_setting_wins(given):
    both = {"A2A_AUTO_RETRY_MAX_ATTEMPTS": "7", "COVENANT_A2A_AUTO_RETRY_MAX_ATTEMPTS": "8"}

    assert given(**both)["MAX_ATTEMPTS"] == "7"


@pytest.mark.parametrize("word", ["1", "true", "YES", " on "])
def test_the_scheduler_is_switched_on_by_these_words(word):
    assert AutoRetry.from_settings(DEFAULTS | {"SCHEDULER": word}).policy.enabled


@pytest.mark.parametrize("word", ["0", "false", "No", "off", ""])
def test_the_scheduler_stays_off_with_these_words(word):
    assert not AutoRetry.from_settings(DEFAULTS | {"SCHEDULER": word}).policy.enabled


BAD_VALUES = [
    ("SCHEDULER", "maybe", 'expected boolean env value, got "maybe"'),
    ("INTERVAL_MS", "soon", "A2A_AUTO_RETRY_INTERVAL_MS must be an integer"),
    ("INTERVAL_MS", "-60000", "out of range"),
    ("INTERVAL_MS", str(20 * 86_400_000 + 1), "at most 20 days"),
    ("MIN_LEASE_AGE_MS", "", "must be an integer"),
    ("MIN_LEASE_AGE_MS", "-1", "out of range"),
    ("MAX_ATTEMPTS", "1.5", "must be an integer"),
    ("MAX_ATTEMPTS", "1_0", "must be an integer"),
    ("MAX_ATTEMPTS", "\u0663", "must be an integer"),
    ("MAX_ATTEMPTS", "0", "max_attempts"),
    ("MAX_REQUEUES", "9" * 30, "out of range"),
    ("SCAN_LIMIT", "0", "scan_limit"),
]


@pytest.mark.parametrize(
    ("value", "minutes"),
    [("0", 1), ("1", 1), ("30000", 1), ("60001", 2), ("90000", 2), (str(20 * 86_400_000 - 1), 28800)],
)
def test_an_interval_is_rounded_up_to_whole_minutes_with_a_warning(settings, value, minutes):
    settings.A2A_AUTO_RETRY = DEFAULTS | {"INTERVAL_MS": value}

    call_command("check")
    (warning,) = checks.scheduler_interval()

    assert AutoRetry.from_settings().interval == timedelta(minutes=minutes)
    assert warning.id == "mailbox.W002"
    assert warning.msg == f"A2A_AUTO_RETRY_INTERVAL_MS is {value}: the scheduler runs every {minutes} min instead."


@pytest.mark.parametrize("value", ["60000", " 120000 ", "+60000", "soon", str(20 * 86_400_000)])
def test_an_interval_of_whole_minutes_needs_no_warning_and_a_bad_interval_has_its_error(settings, value):
    settings.A2A_AUTO_RETRY = DEFAULTS | {"INTERVAL_MS": value}

    assert checks.scheduler_interval() == []


@pytest.mark.one_database
def test_the_warning_names_the_variable_that_was_set(given, capsys):
    given(COVENANT_A2A_AUTO_RETRY_INTERVAL_MS="90000")

    call_command("check", "--tag", "serving")

    told = capsys.readouterr().err
    assert "COVENANT_A2A_AUTO_RETRY_INTERVAL_MS is 90000: the scheduler runs every 2 min instead." in told


@pytest.mark.django_db
def test_the_cluster_keeps_the_rounded_interval(settings):
    settings.A2A_AUTO_RETRY = DEFAULTS | {"SCHEDULER": "1", "INTERVAL_MS": "90000"}

    jobs.register()

    assert Schedule.objects.get(func=timetable.RETRY_JOB).minutes == 2


@pytest.mark.parametrize(("name", "value", "problem"), BAD_VALUES)
def test_an_invalid_setting_of_the_scheduler_is_named(name, value, problem):
    with pytest.raises(BadSettingError, match=problem):
        AutoRetry.from_settings(DEFAULTS | {name: value})


@pytest.mark.parametrize(("name", "value", "problem"), BAD_VALUES)
def test_an_invalid_setting_of_the_scheduler_fails_the_check_with_a_hint(settings, name, value, problem):
    settings.A2A_AUTO_RETRY = DEFAULTS | {name: value}

    with pytest.raises(SystemCheckError, match=r"mailbox\.E001"):
        call_command("check")
    (error,) = checks.scheduler_settings()

    assert (error.id, "unset it" in str(error.hint)) == ("mailbox.E001", True)


@pytest.mark.parametrize("name", ["MAX_ATTEMPTS", "SCHEDULER"])
def test_the_error_of_a_long_value_shows_its_beginning(name):
    with pytest.raises(BadSettingError) as refused:
        AutoRetry.from_settings(DEFAULTS | {name: "x" * 100_000})

    assert str(refused.value).endswith(f'got "{"x" * 80}…"')


@pytest.mark.one_database
@pytest.mark.processes
def test_a_bad_value_stops_the_hub_before_it_migrates(tmp_path):
    refused = in_a_fresh_process(tmp_path, "serve", COVENANT_A2A_AUTO_RETRY_SCHEDULER="maybe")

    assert (refused.returncode, (tmp_path / "hub.sqlite3").stat().st_size) == (1, 0)
    assert 'COVENANT_A2A_AUTO_RETRY_SCHEDULER: expected boolean env value, got "maybe"' in refused.stderr
    assert "HINT: Correct the A2A_AUTO_RETRY_" in refused.stderr


@pytest.mark.one_database
@pytest.mark.parametrize("value", ["soon", "-1", str(20 * 86_400_000 + 1)])
def test_the_error_names_the_variable_that_was_set(given, value):
    given(COVENANT_A2A_AUTO_RETRY_INTERVAL_MS=value)

    with pytest.raises(SystemCheckError, match=r"\(mailbox\.E001\) COVENANT_A2A_AUTO_RETRY_INTERVAL_MS "):
        call_command("check", "--tag", "serving")


@pytest.mark.one_database
@pytest.mark.processes
def test_a_fresh_database_can_be_migrated_with_the_scheduler_switched_on(tmp_path):
    migrated = in_a_fresh_process(tmp_path, "migrate", "--verbosity", "0", A2A_AUTO_RETRY_SCHEDULER="1")

    assert (migrated.returncode, migrated.stderr) == (0, "")


@pytest.mark.django_db
def test_the_check_warns_of_a_scheduler_without_its_grant(settings):
    settings.A2A_AUTO_RETRY = DEFAULTS | {"SCHEDULER": "1"}

    (warning,) = checks.scheduler_grant(databases=["default"])

    assert warning.id == "mailbox.W001"
    assert "a2a grant give scheduler@hub a2a.repair.requeue" in str(warning.hint)


@pytest.mark.django_db
def test_the_check_is_silent_for_a_scheduler_with_its_grant_or_off(settings):
    switched_off = checks.scheduler_grant(databases=["default"])
    settings.A2A_AUTO_RETRY = DEFAULTS | {"SCHEDULER": "1"}
    factories.grant(factories.caller_of(auto_retry.scheduler_agent()), "a2a.repair.requeue")

    assert (switched_off, checks.scheduler_grant(databases=["default"])) == ([], [])
