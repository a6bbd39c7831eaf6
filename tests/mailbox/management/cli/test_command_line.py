"""The command as a process of its own, on the tests' database: exit codes, stdout and stderr."""

import json
import os
import subprocess
import sys
import uuid

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from tests.support import factories
from tests.support.databases import url_of_the_tests_database
from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.one_database

UUID = str(uuid.uuid4())


@pytest.fixture
def environment(transactional_db, tmp_path):
    """Return environment variables for a process that uses this test's database."""
    url = url_of_the_tests_database()
    connection.close()
    return os.environ | {"DATABASE_URL": url, "A2A_VAR": str(tmp_path)}


@pytest.fixture
def run(environment):
    def run(*words, said=""):
        command = [sys.executable, "manage.py", "a2a", *words]
        return subprocess.run(
            command, cwd=ROOT, env=environment, input=said, capture_output=True, text=True, timeout=PATIENCE
        )

    return run


@pytest.mark.processes
def test_successful_commands_print_only_to_stdout(run):
    for name in ("alice", "bob"):
        added = run("agents", "add", name, "--json")
        assert (added.returncode, added.stderr) == (0, "")
        assert json.loads(added.stdout)["agent"]["display"] == f"{name}@local"

    sent = run("send", "--from", "alice", "--to", "bob", "-", said="größer\n")
    received = run("recv", "bob", "--json")

    assert (sent.returncode, sent.stderr) == (0, "")
    assert json.loads(received.stdout)["task"]["intent_text"] == "größer\n"
    assert json.loads(received.stdout)["task"]["id"] == sent.stdout.strip()


@pytest.mark.processes
@pytest.mark.parametrize("command", ["recv", "drain"])
@pytest.mark.parametrize("as_json", [True, False])
def test_leased_tasks_and_drained_results_print_on_any_terminal(run, environment, command, as_json):
    environment |= {"PYTHONIOENCODING": "ascii"}
    alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob", "a2a.respond.*")
    if command == "drain":
        factories.resolved_task(alice, bob, content=[{"type": "text", "text": "🎉"}])
    else:
        factories.sent_task(alice, bob, intent_text="🎉")
    connection.close()

    taken = run(command, "alice" if command == "drain" else "bob", *(["--json"] if as_json else []))

    assert (taken.returncode, taken.stderr) == (0, "")
    assert "\\ud83c\\udf89" in taken.stdout
    if as_json:
        assert "🎉" in json.dumps(json.loads(taken.stdout), ensure_ascii=False)


@pytest.mark.processes
def test_errors_print_only_to_stderr(run):
    refused = run("requeue", UUID, "--reason", "r", "--duplicate-risk", "idempotent")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"no task {UUID} is known" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.processes
def test_the_error_for_an_unmigrated_database_says_what_to_do(run, environment, tmp_path):
    environment["DATABASE_URL"] = f"sqlite:///{tmp_path}/empty.sqlite3"

    refused = run("status")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "manage.py migrate" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.processes
def test_a_missing_hub_is_an_error_and_is_not_created(run, environment, tmp_path):
    environment |= {"DATABASE_URL": "", "A2A_VAR": str(tmp_path / "elsewhere")}

    refused = run("status")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"no database at {tmp_path}/elsewhere/hub.sqlite3" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "elsewhere").exists()


REPAIR = ["requeue", UUID, "--reason", "r"]
SEND = ["send", "--from", "a", "--to", "b", "t"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["agents"], "the following arguments are required: COMMAND"),
        (["status", "--state", "x"], "unknown a2a state 'x' (expected queued|in_flight|interrupted)"),
        (["status", "--state", "Queued"], "unknown a2a state 'Queued' (expected queued|in_flight|interrupted)"),
        (["status", "--limit", "x"], "--limit must be an integer"),
        (["status", "--limit", "0"], "--limit must be between 1 and 1000"),
        (["status", "--limit"], "argument --limit: expected one argument"),
        (["status", "--min-lease-age-ms", "-1"], "--min-lease-age-ms"),
        (["status", "--fly"], "unrecognized arguments: --fly"),
        (["requeue", "x", "--reason", "r", "--duplicate-risk", "idempotent"], "task-id must be a UUID"),
        ([*REPAIR, "--duplicate-risk", "x"], "unknown duplicate risk 'x' (expected idempotent|operator-accepted)"),
        (REPAIR, "the following arguments are required: --duplicate-risk"),
        ([*REPAIR, "--duplicate-risk", "idempotent", "--lease-id", "x"], "--lease-id must be a UUID"),
        (["force-error", UUID, "--message", "m"], "the following arguments are required: --reason"),
        (["revoke", "x"], "grant-id must be a UUID"),
        (["grant", "a", "a2a.compact", "--scope", "{"], "--scope is not accepted: not JSON"),
        (["grant", "a", "a2a.compact", "--scope", "[]"], "--scope must be a JSON object"),
        (["grant", "a", "a2a.compact", "--max-uses", "0"], "--max-uses must be at least 1"),
        (["grant", "a", "a2a.compact", "--expires-at", "soon"], "--expires-at must be a time"),
        (["grant", "a", "a2a.compact", "--expires-at", "9" * 30], "--expires-at must be a time"),
        (["keys", "add"], "one of the arguments NAME --user is required"),
        (["keys", "add", "a", "--user", "b"], "not allowed with argument"),
        ([*SEND, "--deadline-ms", str(2**63)], "--deadline-ms must be between 0 and 9223372036854775807"),
        ([*SEND, "--duplicate-safety", "x"], "unknown duplicate safety 'x' (expected unsafe|idempotent)"),
        (["recv", "b", "--wait-ms", "600001"], "--wait-ms must be between 0 and 600000"),
        (["post-result", UUID, "--status", "done"], "unknown status 'done' (expected ok|error|partial|rejected)"),
        (["post-result", UUID, "--status", "ok", "--content", '{"type":"text"}'], "must be a JSON array of content"),
        (["post-result", UUID, "--status", "ok", "--content", "[]", "--text", "t"], "not allowed with argument"),
    ],
)
def test_invalid_arguments_are_rejected(words, message):
    with pytest.raises(CommandError) as refusal:
        call_command("a2a", *words)

    assert message in str(refusal.value)


@pytest.mark.processes
def test_wrong_usage_prints_the_usage_and_exits_with_2(run):
    refused = run("status", "--state", "x")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("usage: manage.py a2a status")
    assert "unknown a2a state 'x' (expected queued|in_flight|interrupted)" in refused.stderr
