"""The sections of the benchmarks, each measured and printed by itself."""

from collections.abc import Mapping

from tools.bench.sections import batches, full_cycles, growth, long_queue, migration, official, waiting
from tools.bench.sections.section import Section

SECTIONS: Mapping[str, Section] = {
    "cycles": full_cycles.SECTION,
    "batches": batches.SECTION,
    "queue": long_queue.SECTION,
    "waiting": waiting.SECTION,
    "a2a": official.SECTION,
    "growth": growth.SECTION,
    "migration": migration.SECTION,
}
