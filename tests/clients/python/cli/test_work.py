"""The options of `a2a work` that say which leases of crashed workers it takes over."""

from typing import Any

import pytest
from typer.testing import CliRunner

from a2a_hub_client.cli.app import app
from a2a_hub_client.worker.orphans import Resuming

pytestmark = pytest.mark.one_database

ENVIRONMENT = {"A2A_URL": "http://hub.test", "A2A_API_KEY": "a2a_k"}


@pytest.fixture
def made(monkeypatch):
    """Return the settings of the workers that were made. They do nothing."""
    settings: list[dict[str, Any]] = []

    class Idle:
        def __init__(self, *_, **how):
            settings.append(how)

        def run(self):
            return None

    monkeypatch.setattr("a2a_hub_client.worker.worker.Worker", Idle)
    return settings


def work(*options):
    return CliRunner().invoke(app, ["work", "bob", *options, "--", "cat"], env=ENVIRONMENT)


@pytest.mark.parametrize(
    ("options", "resuming"),
    [
        ([], Resuming()),
        (
            ["--resume", "all", "--resume-after", "90", "--resume-attempts", "2"],
            Resuming(which="all", after=90, attempts=2),
        ),
    ],
)
def test_a_worker_gets_the_leases_that_it_takes_over(made, options, resuming):
    assert work(*options).exit_code == 0
    assert [one["resuming"] for one in made] == [resuming]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["--resume-after", "60", "--heartbeat", "60"], "--resume-after"),
        (["--resume-after", "0"], "--resume-after"),
        (["--resume-attempts", "0"], "--resume-attempts"),
    ],
)
def test_a_silence_that_live_workers_have_and_no_attempts_are_refused(made, options, option):
    refused = work(*options)

    assert (refused.exit_code, made) == (2, [])
    assert option in refused.output
