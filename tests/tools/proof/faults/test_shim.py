"""The preloaded library shifts the wall clock and fails syncs by order, and leaves waiting and the real clock alone."""

import json
import os
import subprocess
import sys
import time

import pytest

from tools.proof.faults import shim

pytestmark = [
    pytest.mark.processes,
    pytest.mark.one_database,
    pytest.mark.skipif(shim.missing() is not None, reason=str(shim.missing())),
]

DAY = 86_400
PROGRAM = """
import json, multiprocessing, os, sys, time
began = time.monotonic()
multiprocessing.Semaphore(0).acquire(timeout=0.1)
time.sleep(0.1)
failed = 0
with open(sys.argv[1], "wb") as file:
    for number in range(6):
        try:
            os.fsync(file.fileno())
        except OSError:
            failed += 1
print(json.dumps({"now": time.time(), "waited": time.monotonic() - began, "failed": failed}))
"""


@pytest.mark.parametrize("shift", [DAY, -DAY, 0])
def test_a_program_sees_the_shifted_clock_and_waits_as_long_as_ever(tmp_path, shift):
    environment = shim.environment(tmp_path / "shim")
    orders = shim.Orders(environment)
    orders.shift_clock(shift)
    orders.fail_syncs(3)

    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "synced")]
    said = json.loads(subprocess.check_output(command, env=os.environ | environment))

    assert abs(said["now"] - time.time() - shift) < DAY / 2
    assert 0.2 <= said["waited"] < DAY / 2
    assert said["failed"] == orders.failed == 2
