"""The demo, started as readers start it. It starts its own hub, so one database suffices to test it."""

import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from tests.support.hub import PATIENCE, ROOT, command_of, has_ended, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

TEXT = """Before any heading. A second sentence that is longer.

# First

One two three. Four!

```sh
# not a heading
```

### Below first

# Second

| a | table |
|---|---|

- Short item
- An item of five words
"""

REPORT = """sample.md: 3 sections, 30 words

[1] Before any heading. A second sentence that is lon…
    word-count: 9, 9 of them distinct
    longest-sentence: 6 words: A second sentence that is longer.
    outline: no headings

[2] First
    word-count: 11, 10 of them distinct
    longest-sentence: 3 words: One two three.
    outline: # First | ### Below first

[3] Second
    word-count: 10, 9 of them distinct
    longest-sentence: 5 words: An item of five words
    outline: # Second

Task tree
"""


@pytest.fixture
def demo(tmp_path):
    """Return a function that starts the demo, with its temporary folder in the test's. Kills it after the test."""
    own_folder = tmp_path / "tmp"
    own_folder.mkdir()
    started = []

    def start(file):
        process = subprocess.Popen(
            [sys.executable, "docs/demo/run.py", str(file)],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(own_folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


def test_the_report_joins_the_results_of_three_workers(demo, tmp_path):
    file = tmp_path / "sample.md"
    file.write_text(TEXT)

    process = demo(file)
    printed, said = process.communicate(timeout=3 * PATIENCE)

    assert process.returncode == 0, said
    report, _, tree = printed.partition("Task tree\n")
    assert f"{report}Task tree\n" == REPORT
    root, *children = [re.sub(r"[0-9a-f]{8}  ", "", line) for line in tree.splitlines()]
    assert root == "report by orchestrator@local: ok, attempt 1  (Report on sample.md)"
    assert len(children) == 9
    assert children[-1] == "└─ outline by outline@local: ok, attempt 1  (Second)"
    assert "[##############################] 9/9" in said
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupt_stops_every_process(demo):
    process = demo(ROOT / "CHANGELOG.md")
    wait_until(lambda: any("worker.py" in " ".join(command_of(child)) for child in descendants(process)))
    running = descendants(process)

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)

    assert process.returncode == 130
    assert "Interrupted" in said
    assert len(running) >= 3
    wait_until(lambda: all(map(has_ended, running)))


@pytest.mark.parametrize(("content", "message"), [(b"\xff\xfe", "not a UTF-8 text file"), (b" \n", "holds no text")])
def test_a_file_without_text_is_rejected_at_once(demo, tmp_path, content, message):
    file = tmp_path / "sample"
    file.write_bytes(content)

    process = demo(file)
    printed, said = process.communicate(timeout=PATIENCE)

    assert (process.returncode, printed) == (1, "")
    assert said.startswith("demo: ")
    assert message in said


@pytest.mark.parametrize(
    ("sections", "begins"), [(["One two."], "a.md: 1 section, 0"), (["A.", "B."], "a.md: 2 sections")]
)
def test_the_report_counts_the_sections(sections: list[str], begins: str) -> None:
    program = f"import report; print(report.assemble('a.md', {sections!r}, {[[] for _ in sections]!r}))"

    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "docs/demo", capture_output=True, text=True, timeout=PATIENCE
    )

    assert printed.stdout.startswith(begins), printed.stderr
