"""The command line of a stage's hub."""

import os
import subprocess
import sys

from tests.support.hub import ROOT
from tools.proof.servers import Server
from tools.proof.stage import ENVIRONMENT, Stage

PATIENCE = 300.0


def manage(stage: Stage, *words: str, stdin: str = "") -> str:
    """Run `manage.py a2a` with the settings of the stage's hub; return its output. Fails if the command fails."""
    own = {"A2A_VAR": str(stage.folder), "DATABASE_URL": stage.database_url, "PUBLIC_URL": stage.url}
    command = [sys.executable, str(ROOT / "manage.py"), "a2a", *words]
    if isinstance(stage.postgresql, Server):  # a backup needs the client programs of this server
        own["PATH"] = f"{stage.postgresql.room.programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **ENVIRONMENT, **stage.environment, **own}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=stdin, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, f"a2a {words[0]}: {done.stdout}{done.stderr}"
    return done.stdout
