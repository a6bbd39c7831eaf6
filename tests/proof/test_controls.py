"""A proof that cannot fail proves nothing: it names the bug that was put into a hub."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.proof import controls

SENDS = 110


@pytest.mark.django_db
def test_a_hub_that_forgets_attempts_is_caught_by_name(tmp_path):
    part = controls.run(controls.FORGETFUL, connection.vendor, tmp_path, 3, sends=SENDS)

    assert {violation.name for violation in part.violations} >= controls.FORGETFUL.names
