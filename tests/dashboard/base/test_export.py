"""The names of exported files."""

import pytest
from django.utils import timezone


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/ops/tasks.csv", "tasks-DAY.csv"),
        ("/ops/tasks.jsonl?q=from:planner+age:<1d&state=error", "tasks-DAY-from-planner-age-1d-state-error.jsonl"),
        ("/ops/leases.csv?state=stale", "leases-DAY-state-stale.csv"),
    ],
)
def test_the_name_of_an_export_tells_the_day_and_the_query(ana, path, name):
    answer = ana.get(path)

    named = name.replace("DAY", f"{timezone.localdate()}")
    assert answer["Content-Disposition"] == f'attachment; filename="{named}"'
