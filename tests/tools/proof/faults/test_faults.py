from collections import Counter

import pytest

from tools.proof.faults import FAULTS
from tools.proof.faults.fault import DATABASES

pytestmark = pytest.mark.one_database


def test_each_fault_has_a_name_of_its_own():
    names = Counter(fault.name for fault in FAULTS)

    assert [name for name, count in names.items() if count > 1] == []


def test_the_long_form_strikes_postgresql_fifty_times():
    strikes = sum(fault.times for fault in FAULTS if fault.databases == ("postgresql",))

    assert strikes >= 50


@pytest.mark.parametrize("database", DATABASES)
def test_the_short_form_strikes_each_database_and_needs_no_tools(database):
    short = [fault for fault in FAULTS if fault.is_short and database in fault.databases]

    assert len(short) >= 4
    assert [fault.name for fault in short if fault.missing()] == []
