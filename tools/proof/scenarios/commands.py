"""The command line of a stage's hub."""

import contextlib
import os
import signal
import subprocess
import sys

from tests.support.hub import ROOT
from tools.proof.servers import Server
from tools.proof.stage import ENVIRONMENT, Stage

PATIENCE = 300.0
COMMAND = (sys.executable, str(ROOT / "manage.py"), "a2a")


def manage(stage: Stage, *words: str, stdin: str = "") -> str:
    """Run `manage.py a2a` with the settings of the stage's hub; return its output. Fails if the command fails."""
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=ROOT,
        env=_environment(stage),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"a2a {words[0]}: {done.stdout}{done.stderr}"
    return done.stdout


def manage_until_killed(stage: Stage, seconds: float, *words: str) -> bool:
    """Begin `manage.py a2a` as `manage` does, and kill it after so long. Return False if it had ended before."""
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=ROOT,
        env=_environment(stage),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    was_running = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return was_running


def _environment(stage: Stage) -> dict[str, str]:
    own = {"A2A_VAR": str(stage.folder), "DATABASE_URL": stage.database_url, "PUBLIC_URL": stage.url}
    if isinstance(stage.postgresql, Server):  # a backup needs the client programs of this server
        own["PATH"] = f"{stage.postgresql.room.programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **ENVIRONMENT, **stage.environment, **own}
