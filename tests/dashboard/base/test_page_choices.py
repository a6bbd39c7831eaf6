"""URL parameters with a fixed set of values: every page refuses an unknown value and names the parameter."""

import pytest

from tests.support import factories
from tests.support.bulk import plan, the_plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def hub(ana, alice, bob):
    """Return the ids of rows that the paths contain."""
    lease = factories.leased_task(alice, bob)
    plan(ana, [lease])
    return {"plan": the_plan().pk, "root": lease.task.uuid}


@pytest.mark.parametrize(
    ("address", "valid"),
    [
        ("?range={}", "7d"),
        ("agents/bob@local/?range={}", "6h"),
        ("leases/?sort={}", "newest"),
        ("repairs/{plan}/?sort={}", "-age"),
        ("repairs/{plan}/?show={}", "pending"),
        ("repairs/{plan}.csv?show={}", "consent"),
        ("scheduler/dry-run/?verdict={}", "no+key"),
        ("trees/{root}/?only={}", "errors"),
        ("trees/{root}/?min={}", "1s"),
        ("trees/{root}/?depth={}", "2"),
    ],
)
def test_an_unknown_url_parameter_value_is_refused_by_name(ana, hub, address, valid):
    address = f"/ops/{address}".replace("{plan}", str(hub["plan"])).replace("{root}", str(hub["root"]))
    name = address.partition("?")[2].partition("=")[0]

    for junk in ("junk", "-junk", "99999", "%00", "<b>"):
        page = ana.get(address.format(junk))
        assert (page.status_code, f"{name}: must be one of" in page.text, "<b>" in page.text) == (400, True, False), (
            junk
        )
    assert ana.get(address.format(valid)).status_code == ana.get(address.format("")).status_code == 200


def test_a_list_with_an_unknown_tab_marks_no_tab_as_current(ana):
    for name in ("tasks", "leases", "agents", "deliveries", "results"):
        tab = "delivery" if name == "results" else "state"
        page = ana.get(f"/ops/{name}/?{tab}=junk")

        tabs = page.text.partition('<ul class="tabs">')[2].partition("</ul>")[0]
        assert (page.status_code, "aria-current" in tabs) == (400, False), name
