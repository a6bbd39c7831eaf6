"""The command that the tests of ``send --file`` share."""

import json

import pytest


@pytest.fixture
def send(a2a, cast, tmp_path):
    """Send lines as alice; return what the command printed. A line is text, or a body as a dict."""

    def run(*lines, options=()):
        path = tmp_path / "tasks.jsonl"
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return a2a("send", "--from", "alice", "--file", path, *options)

    return run
