"""The sections of the benchmarks, each measured and printed by itself."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.sections import full_cycles, long_queue
from tests.bench.sections.section import Section

SECTIONS: Mapping[str, Section] = {
    "cycles": full_cycles.SECTION,
    "queue": long_queue.SECTION,
}
