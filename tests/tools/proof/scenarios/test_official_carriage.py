"""The short form of the official carriage, and its control run: a carrier with a bug, which the check must name."""

import pytest
from django.db import connection

from tools.proof import edits
from tools.proof.scenarios import official_carriage

pytestmark = pytest.mark.processes


@pytest.mark.django_db
def test_each_carried_task_ends_once_with_the_answer_of_the_other_hub(tmp_path):
    part = official_carriage.carried(connection.vendor, tmp_path, 20262, tasks=20, rounds=1)

    assert [str(violation) for violation in part.violations] == []
    assert [strike.name for strike in part.strikes] == [
        "far hub killed",
        "near hub killed",
        "near carrier killed",
        "near web worker killed",
    ]


@pytest.mark.django_db
@pytest.mark.one_database
def test_a_carrier_that_forgets_what_it_sent_is_caught_by_name(tmp_path):
    part = official_carriage.carried(connection.vendor, tmp_path, 20263, *edits.FORGETFUL_CARRIER, tasks=3, rounds=0)

    assert "submitted_twice" in {violation.name for violation in part.violations}
