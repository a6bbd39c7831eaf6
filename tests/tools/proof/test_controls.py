"""A proof that cannot fail proves nothing: it names the bug that was put into a hub."""

import pytest
from django.db import connection

from tools.proof import controls

pytestmark = pytest.mark.processes

SENDS = 160
MOST_LOADS = 8  # the order of threads decides whether a load meets the bug


@pytest.mark.django_db
@pytest.mark.one_database
def test_a_hub_that_forgets_attempts_is_caught_by_name(tmp_path):
    control, named = controls.FORGETFUL, set[str]()

    for seed in range(MOST_LOADS):
        part = controls.run(control, connection.vendor, tmp_path / str(seed), seed, sends=SENDS)
        named |= {violation.name for violation in part.violations}
        if named >= control.names:
            break

    assert named >= control.names
