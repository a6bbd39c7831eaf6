"""The JavaScript client against a served hub."""

import contextlib
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from a2a_hub_client.models.tasks import HeldLease
from tests.clients.javascript.conftest import Cast, run
from tests.support import pages
from tests.support.clients.environments import PACKAGE
from tests.support.hub import PATIENCE, wait_until
from tools.proof.history import History
from tools.proof.proxy import USUAL, proxied

pytestmark = pytest.mark.processes

FIRST_WORKER = pages.page("docs/start/first-worker-js.md")
EXAMPLES = dict(
    re.findall(
        r"^```js (\w+\.mjs)\n(.*?)^```$",
        (PACKAGE / "README.md").read_text() + FIRST_WORKER,
        re.MULTILINE | re.DOTALL,
    )
)
SLOW = """
import { Hub } from "a2a-hub-client";
const hub = new Hub();
const { GRACE, RESUME } = process.env;
hub.worker({ heartbeat: 100, resumeAfter: 400, wait: 200, grace: Number(GRACE), resume: RESUME }, (task) => {
  console.log(`begun ${task.attempt}`);
  return process.env.ANSWER || new Promise(() => {});
});
await hub.run();
"""
SEND = """
import { Hub } from "a2a-hub-client";
console.log((await new Hub().send("bob", "work")).id);
"""
ASK = """
import { Hub } from "a2a-hub-client";
const task = await new Hub().send("bob", "work");
console.log((await task.result()).text);
"""


FAULTS = {kind: rate * 3 for kind, rate in USUAL.items()}


@pytest.fixture
def project(package: Path, tmp_path: Path) -> Path:
    """Return the folder of a project that has installed the client."""
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "a2a-hub-client").symlink_to(package)
    for name, text in {**EXAMPLES, "slow.mjs": SLOW, "send.mjs": SEND, "result.mjs": ASK}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@contextlib.contextmanager
def started(
    command: list[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start a program, and kill it at the end. Yield it with the file of its output."""
    output = folder / "output"
    with (
        output.open("a") as file,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        try:
            yield process, output
        finally:
            process.kill()


@pytest.mark.smoke
def test_the_client_does_what_the_hub_promises(cast, package):
    printed = run(["node", "--test", "dist/test/served/hub.test.js"], package, cast.environment())

    assert re.findall(r"^# pass (\d+)$", printed, re.MULTILINE) == ["6"]


def test_a_network_with_faults_loses_and_doubles_nothing(cast, package):
    place = urlsplit(cast.hub.url)

    with proxied((str(place.hostname), int(place.port or 0)), History(1), FAULTS) as proxy:
        environment = {**cast.environment(), "A2A_PROXY": proxy.url}
        run(["node", "--test", "dist/test/served/faults.test.js"], package, environment)

        assert {kind for kind, _ in proxy.counts} == FAULTS.keys()


def worked(project: Path, cast: Cast, *, worker: str, sender: str) -> str:
    """Run bob's worker while alice's sender runs; return the sender's output."""
    with started(["node", worker], project, cast.environment("bob")) as (process, output):
        printed = run(["node", sender], project, cast.environment("alice"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, output.read_text()
    return printed


def test_the_examples_of_the_page_work(cast: Cast, project: Path) -> None:
    printed = worked(project, cast, worker="worker.mjs", sender="sender.mjs")

    assert printed == "50 %\nok { words: 6 }\n"


def test_the_first_worker_prints_what_its_page_shows(cast: Cast, project: Path) -> None:
    printed = worked(project, cast, worker="words.mjs", sender="ask.mjs")

    assert f"```text\n{printed}```\n" in FIRST_WORKER


def is_beating(held: HeldLease) -> bool:
    """Whether the holder of a lease has sent a heartbeat."""
    return held.last_seen_at > held.leased_at


def test_a_worker_drains_at_sigterm(cast: Cast, project: Path) -> None:
    environment = {**cast.environment("bob"), "GRACE": "50", "RESUME": "none"}

    with started(["node", "slow.mjs"], project, environment) as (worker, output):
        task = run(["node", "send.mjs"], project, cast.environment("alice")).strip()
        wait_until(lambda: "begun" in output.read_text())
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0

    assert f"task {task} attempt 1: released: the worker was stopped" in output.read_text()
    with cast.client("alice") as alice:
        alice.task(task).cancel()  # the other tests lease what is queued


def test_the_task_of_a_killed_worker_is_taken_over(cast: Cast, project: Path) -> None:
    environment = {**cast.environment("bob"), "GRACE": "50", "RESUME": "all"}
    answering = {**environment, "ANSWER": "done by another"}

    with started(["node", "result.mjs"], project, cast.environment("alice")) as (sender, output):
        with started(["node", "slow.mjs"], project, environment) as (worker, _), cast.client("bob") as bob:
            wait_until(lambda: any(map(is_beating, bob.leases())))
            worker.kill()
            worker.wait(PATIENCE)
        with started(["node", "slow.mjs"], project, answering) as (other, _):
            assert sender.wait(PATIENCE) == 0, output.read_text()
            other.send_signal(signal.SIGTERM)
            assert other.wait(PATIENCE) == 0, output.read_text()

    assert "begun 2" in output.read_text()
    assert "done by another" in output.read_text()
