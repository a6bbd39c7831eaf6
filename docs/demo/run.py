"""Run the demo: a new hub, an orchestrator and three workers. Each is a process, and all are stopped at the end.

Usage: python docs/demo/run.py FILE
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import document
import httpx
from skills import SKILLS

from a2a_hub_client import Hub, HubError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ORCHESTRATOR = "orchestrator@local"
TIME_TO_START = 60.0  # seconds
TIME_TO_FINISH = 180.0
TIME_TO_STOP = 20.0
INTERRUPTED = 130


class FailedError(Exception):
    """The demo cannot continue; the message says why."""


class StoppedError(Exception):
    """A Ctrl-C ended the demo."""


class Processes:
    """The demo's processes. Each has a session of its own, so a Ctrl-C reaches only this program, which stops them.

    A signal handler only notes the signal, and `check` acts on it. An exception from the handler could lose a process
    that was just started.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._interrupted = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str], *, quiet: bool = True) -> None:
        """Start a process. A quiet process writes to a file, which `check` quotes when the process has ended."""
        with self._log(name).open("wb") as log:
            self._running[name] = subprocess.Popen(  # noqa: S603
                [sys.executable, *command],
                cwd=ROOT,
                env=os.environ | dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log if quiet else None,
                stderr=log if quiet else None,
                start_new_session=True,
            )

    def check(self, *, ending: str = "") -> None:
        """Raise `StoppedError` after a Ctrl-C, `FailedError` when a process has ended, but for the one named."""
        if self._interrupted:
            raise StoppedError("Interrupted; everything has been stopped.")
        for name, process in self._running.items():
            if name != ending and process.poll() is not None:
                raise FailedError(f"{name} ended with {process.returncode}:\n{self.printed(name)[-2000:]}")

    def wait_for(self, name: str) -> int:
        """Return the exit code of ``name``, while all others run; raise `FailedError`."""
        give_up_at = time.monotonic() + TIME_TO_FINISH
        while (code := self._running[name].poll()) is None:
            self.check(ending=name)
            if time.monotonic() > give_up_at:
                raise FailedError(f"{name} did not finish within {TIME_TO_FINISH:.0f} seconds")
            time.sleep(0.05)
        del self._running[name]
        return code

    def stop(self) -> None:
        """Stop all processes, the hub last, and wait for their end."""
        for process in reversed(self._running.values()):
            process.terminate()
            try:
                process.wait(TIME_TO_STOP)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def printed(self, name: str) -> str:
        return self._log(name).read_text()

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def main(file: Path) -> int:
    document.read(file)
    with tempfile.TemporaryDirectory(prefix="a2a-demo-") as folder:
        processes = Processes(Path(folder))
        try:
            return _run(processes, Path(folder), file)
        finally:
            processes.stop()


def _run(processes: Processes, folder: Path, file: Path) -> int:
    say("Starting a hub")
    url, own = _start_hub(processes, folder)
    say("Registering an orchestrator and three workers")
    keys = _register(url, _operator_key(own))
    processes.check()
    for kind in SKILLS:
        name = f"{kind}@local"
        processes.start(name, [str(HERE / "worker.py"), kind], {"A2A_URL": url, "A2A_API_KEY": keys[name]})
    processes.start(
        ORCHESTRATOR,
        [str(HERE / "orchestrator.py"), str(file.resolve()), *SKILLS],
        {"A2A_URL": url, "A2A_API_KEY": keys[ORCHESTRATOR]},
        quiet=False,
    )
    return processes.wait_for(ORCHESTRATOR)


def _start_hub(processes: Processes, folder: Path) -> tuple[str, dict[str, str]]:
    """Start the hub and wait until it serves; return its URL and the environment variables that it runs with."""
    own = {
        "A2A_VAR": str(folder / "var"),
        "BIND_HOST": "127.0.0.1",
        "DATABASE_URL": "",
        "PORT": "0",
        "PUBLIC_URL": "",
    }
    url = serve(processes, own)
    return url, own | {"PORT": url.rpartition(":")[2]}


def serve(processes: Processes, own: Mapping[str, str]) -> str:
    """Start the hub with these environment variables, and wait until it serves; return its URL."""
    processes.start("hub", ["manage.py", "serve"], own)
    give_up_at = time.monotonic() + TIME_TO_START
    while not _serves(url := f"http://127.0.0.1:{_port(processes)}"):
        processes.check()
        if time.monotonic() > give_up_at:
            raise FailedError(f"the hub did not start within {TIME_TO_START:.0f} seconds")
        time.sleep(0.1)
    return url


def _port(processes: Processes) -> int:
    """Return the port that the hub has printed, 0 before that."""
    found = re.search(r"^A2A Hub starts on port (\d+)\.", processes.printed("hub"), re.MULTILINE)
    return int(found[1]) if found else 0


def _serves(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=2).is_success
    except httpx.TransportError:
        return False


def _operator_key(own: dict[str, str]) -> str:
    command = [sys.executable, "manage.py", "a2a", "keys", "add", "--user", "operator", "--json"]
    added = subprocess.run(  # noqa: S603
        command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, check=False, start_new_session=True
    )
    if added.returncode:
        raise FailedError(added.stderr.strip())
    key: str = json.loads(added.stdout)["api_key"]
    return key


def _register(url: str, operator_key: str) -> dict[str, str]:
    """Register the agents, grant each only what it needs, and return their keys by name."""
    workers = [f"{kind}@local" for kind in SKILLS]
    grants = {
        ORCHESTRATOR: [f"a2a.send.{name}" for name in [*workers, ORCHESTRATOR]] + [f"a2a.respond.{ORCHESTRATOR}"],
        **{worker: [f"a2a.respond.{ORCHESTRATOR}"] for worker in workers},
    }
    keys = {}
    with Hub(url, operator_key) as operator:
        for name in grants:
            keys[name] = operator.add_agent(name).api_key
        for name, actions in grants.items():
            for action in actions:
                operator.grant(name, action)
    return keys


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def use_no_proxy() -> None:
    """Let calls to the hub on this machine use no proxy."""
    os.environ["NO_PROXY"] = ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1"]))


if __name__ == "__main__":
    use_no_proxy()
    try:
        sys.exit(main(Path(sys.argv[1])))
    except StoppedError as stopped:
        say(str(stopped))
        sys.exit(INTERRUPTED)
    except (FailedError, document.UnreadableError, HubError) as error:
        sys.exit(f"demo: {error}")
