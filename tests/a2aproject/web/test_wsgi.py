import os
import subprocess
import sys

import pytest

from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

ANSWERS = """
import io, os, resource, threading
from a2aproject.wsgi import application

def status(path):
    given = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "SERVER_NAME": "localhost", "SERVER_PORT": "80",
             "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "http", "HTTP_HOST": "localhost"}
    seen = []
    list(application(given, lambda line, headers: seen.append(line)))
    return seen[0]

print("unread" in [thread.name for thread in threading.enumerate()])
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
try:
    os.dup(0)
except OSError:
    print(status("/nowhere"))
    print(status("/nowhere"))
    print(status("/a2a/tasks/not/there"))
"""


def test_a_web_process_ends_unread_answers_and_without_a_free_file_answers_its_first_requests(tmp_path):
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": ""}

    answered = subprocess.run(
        [sys.executable, "-c", ANSWERS], cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE
    )

    assert answered.stdout.splitlines() == ["True", *["404 Not Found"] * 3], answered.stderr
