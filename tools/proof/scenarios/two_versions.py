"""Two versions on one database: the previous one serves the migrated database, alone and beside this one."""

import contextlib
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from tests.support.hub import ROOT
from tools.proof import servers
from tools.proof.forms import Part, part_of
from tools.proof.history import History
from tools.proof.load import loading, run_load
from tools.proof.mix import SENDS, Mix
from tools.proof.proxy import QUIET
from tools.proof.scenarios.mixes import BESIDE_ANOTHER
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage

PREVIOUS = "PROOF_PREVIOUS_REVISION"  # environment: the revision of the previous version
WITHOUT_TAGS = "f5340ce"  # 1.0.0
SECRET = "one secret for both versions of the proof, as several hubs need it"
OPERATIONS = 600
# The previous version may break promises that this one keeps under faults, so the loads have no faults. They send what
# every version has: no batches, questions and artifacts, no streams, and no looks at the list of delivered results.
OF_BEFORE = {kind: weight for kind, weight in SENDS.items() if kind != "batch"}
PLAIN = Mix(compacts=False, looks=False, converses=False, batches=False, official=False, sends=OF_BEFORE)


def previous() -> str:
    """Return the previous version: the revision of the environment, the newest tag before, or that before any tag."""
    described = _git("describe", "--tags", "--abbrev=0", "HEAD^").stdout.decode().strip()
    return os.environ.get(PREVIOUS) or described or WITHOUT_TAGS


def missing() -> str | None:
    if shutil.which("git") is None:
        return "no git"
    known = _git("cat-file", "-e", f"{previous()}^{{commit}}").returncode == 0
    return None if known else f"the repository lacks the revision {previous()}"


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Migrate the database by this version, then load the previous one, and on PostgreSQL both at once."""
    code = checked_out(folder / "code", previous())
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(servers.room()).server() if database == "postgresql" else None
        new, old = (_stage(database, folder, server, root) for root in (ROOT, code))
        with _serving(new):
            old.first_output = new.first_output
        with _serving(old):
            parts = [_loaded(old, seed)]
            if server is not None:
                with _serving(new):
                    parts += _loaded_at_once(new, old, seed + 1)
    return parts


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True)  # noqa: S607


def checked_out(folder: Path, revision: str) -> Path:
    """Write the code of a revision to ``folder``."""
    archive = _git("archive", revision)
    archive.check_returncode()
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def _stage(database: str, folder: Path, server: servers.Server | None, code: Path) -> Stage:
    """Make a stage. Both share a folder where the database is a file in it."""
    own = folder / "hub" if server is None else folder / ("new" if code == ROOT else "old")
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Stage(
        database=database,
        folder=own,
        history=History(0),
        database_url=server.url if server else "",
        postgresql=server,
        environment={"SECRET_KEY": SECRET},
        code=code,
    )


@contextlib.contextmanager
def _serving(stage: Stage) -> Iterator[None]:
    stage.start_hub()
    try:
        yield
    finally:
        stage.stop_hub()


def _loaded(stage: Stage, seed: int) -> Part:
    began = time.monotonic()
    run_load(stage, seed, OPERATIONS, QUIET, mix=PLAIN)
    return part_of(stage, "the previous version on this version's database", began)


def _loaded_at_once(new: Stage, old: Stage, seed: int) -> list[Part]:
    began, sends = time.monotonic(), OPERATIONS // 6
    sent = {kind: weight for kind, weight in BESIDE_ANOTHER.sends.items() if kind in OF_BEFORE}
    mix = replace(BESIDE_ANOTHER, looks=False, converses=False, batches=False, official=False, sends=sent)
    with (
        loading(new, seed, sends=sends, rates=QUIET, mix=mix) as one,
        loading(old, seed + 1, sends=sends, rates=QUIET, mix=mix) as other,
    ):
        one.wait_until_sent()
        other.wait_until_sent()
    named = ((new, "this version beside the previous one"), (old, "the previous version beside this one"))
    return [part_of(stage, name, began) for stage, name in named]


TWO_VERSIONS = Scenario(
    name="two versions on one database",
    covers="The previous version serves the database that this one has migrated, alone and, on PostgreSQL, beside "
    "this one.",
    run=run,
    missing=missing,
)
