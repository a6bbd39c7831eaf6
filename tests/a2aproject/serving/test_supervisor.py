import os
import select
import signal
import sys
import time

import psutil
import pytest

from a2aproject.serving import beats, stopping, supervisor
from a2aproject.serving.supervisor import Child, Service, Supervisor
from tests.support.hub import PATIENCE, ROOT, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

SLEEP = "import time; time.sleep(60)"
DEAF = """
import os, pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(os.environ["DEAF"]).touch()
time.sleep(60)
"""
WAIT_FOR_DEAF = """
import os, time
while not os.path.exists(os.environ["DEAF"]): time.sleep(0.01)
"""
FROZEN = """
import os, signal
from a2aproject.serving import beats
beats.sender()()
os.kill(os.getpid(), signal.SIGSTOP)
"""
BEATING = """
import time
from a2aproject.serving import beats
beat = beats.sender()
while True:
    beat()
    time.sleep(0.01)
"""
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}]); sys.exit(3)"


def service(code: str, late_after: float | None = None, **environment: str) -> Service:
    given = {"PYTHONPATH": str(ROOT), **environment}
    return Service(name="program", command=[sys.executable, "-c", code], environment=given, late_after=late_after)


def live(child: Child, *, start: float) -> int:
    """Run the child to its end; return its process id, which is its group's too."""
    with stopping.held() as line:
        child.start(start, line)
    assert child.process is not None
    child.process.wait()
    return child.process.pid


class Listener:
    """Collects the supervisor's messages, and stops it after so many."""

    def __init__(self, *, stop_after: int) -> None:
        self.heard: list[str] = []
        self.stop_after = stop_after

    def __call__(self, line: str) -> None:
        self.heard.append(line)
        if len(self.heard) == self.stop_after:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", 0.01)


def test_pauses_grow_while_a_program_keeps_dying():
    listener = Listener(stop_after=3)

    Supervisor([service("raise SystemExit(3)")], say=listener, grace=5).run()

    assert listener.heard == [
        "The program ended with exit code 3; starting it again in 0.01 s.",
        "The program ended with exit code 3; starting it again in 0.02 s.",
        "The program ended with exit code 3; starting it again in 0.04 s.",
        "Stopping.",
    ]


def test_pauses_are_bounded_and_a_long_run_resets_them():
    child = Child(service("raise SystemExit(0)"), deaths_in_a_row=40)

    live(child, start=100)
    unsteady = child.reap(now=101)
    live(child, start=200)
    steady = child.reap(now=200 + supervisor.STEADY_AFTER)

    assert unsteady == "The program ended with exit code 0; starting it again in 30 s."
    assert steady == "The program ended with exit code 0; starting it again in 0.01 s."


def test_child_processes_of_a_dead_program_are_killed():
    child = Child(service(PARENT))

    group = live(child, start=0)
    child.reap(now=1)

    wait_until(lambda: not any(_group(process) == group for process in psutil.process_iter()))


def test_a_program_that_ignores_the_signal_is_killed_after_the_grace(tmp_path):
    listener = Listener(stop_after=1)
    deaf = str(tmp_path / "deaf")
    before = psutil.Process().children()

    Supervisor([service(WAIT_FOR_DEAF, DEAF=deaf), service(DEAF, DEAF=deaf)], say=listener, grace=0.2).run()

    assert listener.heard[-1] == "Some processes did not stop in time and are killed."
    assert psutil.Process().children() == before


@pytest.mark.parametrize("code", [SLEEP, FROZEN], ids=["silent", "frozen"])
def test_a_program_without_beats_is_killed_and_started_again(code):
    listener = Listener(stop_after=3)

    Supervisor([service(code, late_after=1)], say=listener, grace=5).run()

    late = "The program finished nothing for 1 s and is killed."
    killed = "The program was killed by SIGKILL; starting it again in 0.01 s."
    assert listener.heard[:3] == [late, killed, late]


def test_a_program_with_beats_runs_longer_than_its_limit():
    child = Child(service(BEATING, late_after=10))
    with stopping.held() as line:
        child.start(0, line)
        try:
            assert child.beats is not None
            for now in range(1, 21):
                assert select.select([child.beats.reader], [], [], PATIENCE)[0]
                assert child.kill_if_late(now) is None
        finally:
            child.kill()


def test_the_time_in_which_the_supervisor_was_suspended_is_no_silence():
    receiver, writer = beats.pipe(now=100)
    try:
        assert receiver.silence(101, longest_step=2) == 1
        assert receiver.silence(1001, longest_step=2) == 3
        os.write(writer, b"..")
        assert receiver.silence(1002, longest_step=2) == 0
    finally:
        os.close(writer)
        receiver.close()


def test_a_beat_to_a_full_pipe_or_a_dead_supervisor_does_not_wait(monkeypatch):
    receiver, writer = beats.pipe(now=100)
    monkeypatch.setenv(beats.VARIABLE, str(writer))
    beat = beats.sender()

    for _ in range(2**17):
        beat()
    receiver.close()
    beat()

    os.close(writer)
    assert beats.VARIABLE not in os.environ


@pytest.mark.parametrize(("one_stop", "grace"), [(3600.0, 1.0), (0.0, 3600.0)], ids=["together", "one after another"])
def test_only_a_later_stop_signal_kills_the_programs_at_once(tmp_path, monkeypatch, one_stop, grace):
    monkeypatch.setattr(supervisor, "ONE_STOP", one_stop)
    deaf = str(tmp_path / "deaf")

    class Impatient(Listener):
        def __call__(self, line: str) -> None:
            if line == "Stopping.":
                os.kill(os.getpid(), signal.SIGTERM)
            super().__call__(line)

    listener = Impatient(stop_after=1)
    began_at = time.monotonic()
    Supervisor([service(WAIT_FOR_DEAF, DEAF=deaf), service(DEAF, DEAF=deaf)], say=listener, grace=grace).run()

    assert listener.heard[-1] == "Some processes did not stop in time and are killed."
    assert grace <= 1.0 <= time.monotonic() - began_at or grace > PATIENCE > time.monotonic() - began_at


def test_a_program_gets_its_environment():
    listener = Listener(stop_after=1)

    Supervisor([service("import os; raise SystemExit(int(os.environ['CODE']))", CODE="7")], say=listener, grace=5).run()

    assert "exit code 7" in listener.heard[0]


def test_the_earlier_signal_handlers_are_restored():
    before = signal.getsignal(signal.SIGTERM)

    Supervisor([service("raise SystemExit(3)")], say=Listener(stop_after=1), grace=5).run()

    assert signal.getsignal(signal.SIGTERM) is before


def _group(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid) if process.status() != psutil.STATUS_ZOMBIE else None
    except (ProcessLookupError, psutil.NoSuchProcess):
        return None
