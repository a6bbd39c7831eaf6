"""Faults that strike a stage beside the load. The runner reads `FAULTS`."""

from tools.proof.faults import clock, limits, postgresql, processes, storage
from tools.proof.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *postgresql.FAULTS,
    *processes.FAULTS,
    *storage.FAULTS,
    *limits.FAULTS,
    *clock.FAULTS,
)
