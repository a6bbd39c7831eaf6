"""The version before goes on serving a database that is migrated. `make bench` does it with a million tasks."""

from argparse import Namespace

import pytest

from tests.support.databases import database_of_its_own
from tools.bench.sections import migration
from tools.proof.scenarios import two_versions

pytestmark = [
    pytest.mark.processes,
    pytest.mark.processes,
    pytest.mark.skipif(two_versions.missing() is not None, reason="the repository lacks the version before"),
]


def test_the_version_before_goes_on_while_its_database_is_migrated(tmp_path):
    options = Namespace(rows=400, before=two_versions.previous(), workers=1)
    with database_of_its_own() as url:
        found = migration.measure(url or f"sqlite:///{tmp_path / 'hub.sqlite3'}", tmp_path, options)

    phases = [found[name] for name in ("before", "during", "after")]
    assert all(phase["requests"] for phase in phases)
    assert [phases[0]["failed"], phases[2]["failed"]] == [0, 0]
    assert [problem for problem in found["during"]["problems"] if not problem.startswith("503 ")] == []
    assert any(name.startswith("mailbox.") for name in found["migrations"])
