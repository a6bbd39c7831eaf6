"""A program and all processes that it started end when its supervisor has ended, however they are stuck."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.hub import ROOT, has_ended, wait_until

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

SUPERVISOR = """
import sys
from a2aproject.serving import program
from a2aproject.serving.supervisor import Service, Supervisor

command = [sys.executable, program.PATH, "program_to_end"]
Supervisor([Service(name="program", command=command)], say=print, grace=60).run()
"""
DEAF = """
import multiprocessing, pathlib, signal, time

def sleep(name):
    from a2aproject.serving import stopping

    stopping.follow_parent()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pathlib.Path(__file__).with_name(name).touch()
    time.sleep(600)

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        multiprocessing.get_context(method).Process(target=sleep, args=[method]).start()
    sleep("main")
"""

FORKING = """
import multiprocessing, pathlib, signal, time

def sleep():
    pathlib.Path(__file__).with_name("fork").touch()
    time.sleep(600)

signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGINT, lambda *_: None)
multiprocessing.get_context("fork").Process(target=sleep).start()
time.sleep(600)
"""

POLITE = """
import pathlib, signal, sys, time

def stop(*_):
    pathlib.Path(__file__).with_name("stopped").touch()
    sys.exit()

signal.signal(signal.SIGTERM, stop)
pathlib.Path(__file__).with_name("main").touch()
time.sleep(600)
"""


@contextlib.contextmanager
def supervised(folder: Path, program: str, *names: str) -> Iterator[psutil.Popen]:
    """Run the supervisor of a program whose processes touch files of these names. Kill the supervisor at the end."""
    (folder / "program_to_end.py").write_text(program)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])}
    supervisor = psutil.Popen([sys.executable, "-c", SUPERVISOR], env=environment)
    try:
        wait_until(lambda: all((folder / name).exists() for name in names))
        yield supervisor
    finally:
        supervisor.kill()
        supervisor.wait()


@pytest.mark.parametrize(
    "is_main_killed", [False, True], ids=["the supervisor alone", "the supervisor and the program"]
)
def test_nothing_outlives_a_killed_supervisor(tmp_path: Path, is_main_killed: bool) -> None:
    with supervised(tmp_path, DEAF, "main", "fork", "spawn") as supervisor:
        (main,) = supervisor.children()
        processes = [main, *main.children(recursive=True)]

    if is_main_killed:
        main.kill()

    assert len(processes) >= 3
    wait_until(lambda: all(map(has_ended, processes)))


def test_a_program_may_stop_before_it_is_killed(tmp_path: Path) -> None:
    with supervised(tmp_path, POLITE, "main") as supervisor:
        (main,) = supervisor.children()

    wait_until(lambda: has_ended(main))
    assert (tmp_path / "stopped").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_signal_ends_a_forked_process_that_has_no_handler_of_its_own(tmp_path: Path, number: int) -> None:
    with supervised(tmp_path, FORKING, "fork") as supervisor:
        (main,) = supervisor.children()
        (forked,) = main.children()
        forked.send_signal(number)

        wait_until(lambda: has_ended(forked))
        assert not has_ended(main)
