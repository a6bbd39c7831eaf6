"""Run a hub with a day of believable work, two workers and a failing worker, until Ctrl-C. Nothing of it stays.

Usage: PYTHONPATH=docs/demo python docs/tour/tour.py

PORT names the port; without it a free port is taken. The data are in a new folder in `var`. If DATABASE_URL names
PostgreSQL, they are in a new schema of that database. The end deletes that folder and schema, and nothing else.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from run import ROOT, FailedError, Processes, StoppedError, say, serve, use_no_proxy

HERE = Path(__file__).resolve().parent
COLLEAGUES = ("hotels", "writer", "payments", "planner")
LOOK = 0.2  # seconds


def main() -> None:
    """Run the tour until a signal stops it."""
    var = ROOT / "var"
    var.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tour-", dir=var) as name, _database(Path(name)) as database_url:
        folder = Path(name)
        processes = Processes(folder)
        try:
            _run(processes, folder, database_url)
        finally:
            processes.stop()


def _run(processes: Processes, folder: Path, database_url: str) -> None:
    own = {
        "A2A_VAR": str(folder / "hub"),
        "DATABASE_URL": database_url,
        "BIND_HOST": "127.0.0.1",
        "PORT": os.environ.get("PORT") or "0",
        "PUBLIC_URL": "",
        "A2A_ENVIRONMENT": "tour",
        "A2A_HUB_NAME": "Travel agency",
    }
    say("Living a day of a travel agency. This takes about half a minute.")
    made = _lived(processes, folder / "made.json", own)
    url = serve(processes, own)
    for name in COLLEAGUES:
        processes.start(name, [str(HERE / "colleague.py"), name], {"A2A_URL": url, "A2A_API_KEY": made["keys"][name]})
    say(
        f"""
The hub is ready: a day of work, two workers, and a failing worker.

  Dashboard      {url}/ops/
  Name           operator
  Password       {made["password"]}
{_manual(url)}  API reference  {url}/api/docs/

Stop it with Ctrl-C. That deletes all of its data."""
    )
    while True:
        processes.check()
        time.sleep(LOOK)


def _manual(url: str) -> str:
    """Return the line of the documentation, "" where it is not built."""
    return f"  Documentation  {url}/docs/\n" if (ROOT / "site" / "html").exists() else ""


def _lived(processes: Processes, file: Path, own: Mapping[str, str]) -> dict[str, Any]:
    """Fill the database with the day; return the operator's password and the keys of the agents."""
    processes.start("day", [str(HERE / "fill.py"), str(file)], {**own, "PYTHONPATH": str(ROOT)})
    if processes.wait_for("day"):
        raise FailedError((file.parent / "day.log").read_text()[-2000:])
    made: dict[str, Any] = json.loads(file.read_text())
    return made


@contextmanager
def _database(folder: Path) -> Iterator[str]:
    """Yield the URL of the tour's own database: SQLite in its folder, or a new schema of DATABASE_URL."""
    given = os.environ.get("DATABASE_URL", "")
    if not given.startswith("postgres"):
        yield ""
        return
    schema = sql.Identifier(folder.name.replace("-", "_").lower())
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        option = quote(f"-c search_path={schema.as_string(connection)}")
    try:
        yield f"{given}{'&' if '?' in given else '?'}options={option}"
    finally:
        with psycopg.connect(given, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))


if __name__ == "__main__":
    use_no_proxy()
    try:
        main()
    except StoppedError:
        say("Stopped. The data of the tour are deleted.")
    except (FailedError, psycopg.Error) as error:
        sys.exit(f"tour: {error}")
