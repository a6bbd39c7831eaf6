from __future__ import annotations

import pytest

from tests.support.touched import ALWAYS, touched_by

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        ("mailbox/verbs/life/leasing.py", "tests/mailbox/verbs/life/test_leasing.py"),
        ("mailbox/verbs/life/leasing.py", "tests/mailbox/verbs/life/test_races.py"),  # imports it
        ("mailbox/verbs/life/results.py", "tests/mailbox/verbs/life/test_results_drain.py"),  # a part of its name
        ("mailbox/gate/audit.py", "tests/mailbox/gate/test_audit.py"),
        ("tests/mailbox/gate/test_audit.py", "tests/mailbox/gate/test_audit.py"),
        ("tests/support/races.py", "tests/mailbox/verbs/life/test_duplicate_races.py"),
        ("templates/ops/leases.html", "tests/dashboard/views/test_leases.py"),
        ("mailbox/dialects/corvid/views.py", "tests/mailbox/dialects/conformance/test_life.py"),
        ("mailbox/verbs/life/leasing.py", "tests/docs/test_generate.py"),  # the page of states runs it
        ("mailbox/dialects/corvid/urls.py", "tests/mailbox/dialects/test_openapi.py"),
        ("tests/mailbox/management/cli/doors.py", "tests/mailbox/dialects/conformance/test_refusals.py"),
        ("README.md", "tests/test_readme.py"),
        ("docs/reference/http.md", "tests/docs/test_cli.py"),
        ("dashboard/urls.py", "tests/docs/test_http.py"),
        ("a2aproject/settings/__init__.py", "tests/docs/test_settings.py"),
    ],
)
def test_a_change_touches_the_tests_of_what_it_changes(changed, touched):
    assert touched in touched_by([changed])


def test_a_change_does_not_touch_the_rest():
    touched = touched_by(["mailbox/words/times.py"])

    assert "tests/mailbox/words/test_content.py" not in touched
    assert len(touched) < 30


def test_a_deleted_file_touches_no_test_of_its_own():
    assert touched_by(["tests/test_gone.py"]) == {ALWAYS}
