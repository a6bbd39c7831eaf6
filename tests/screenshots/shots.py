"""Pictures of every page worth looking at, in both themes and two widths: `make screenshots`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailbox import trees
from mailbox.callers import Role
from tests.screenshots import hub

FOLDER = Path(__file__).resolve().parent.parent.parent / "screenshots"
LOOKS = [(theme, width) for theme in ("light", "dark") for width in (1440, 390)]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def take(browse):
    """Return a function that opens a path in every look, lets ``act`` work there, and takes the picture."""

    def taken(name, path, act=None, *, person="ana", role=Role.OPERATOR, full=True):
        FOLDER.mkdir(exist_ok=True)
        for theme, width in LOOKS:
            page = browse(person, role, theme=theme, width=width)
            page.goto(f"/ops/{path}")
            if act:
                act(page)
            page.screenshot(path=FOLDER / f"{name}-{theme}-{width}.png", full_page=full)
            page.close()

    return taken


def test_a_calm_hub(take):
    hub.calm()

    take("overview-calm", "")
    take("tasks", "tasks/")
    take("help", "help/")
    take("agents", "agents/")
    take("settings", "settings/")
    take("not-found", "go/?id=nobody")


def test_a_hub_on_fire(take):
    hub.on_fire()

    take("overview-on-fire", "")
    take("leases-stale", "leases/?state=stale")
    take("results", "results/")
    take("audit-filtered", "audit/?q=kind:a2a_task_*")


def test_trees(take):
    root = hub.tree_of_six()
    booking = next(one.task.uuid for one in trees.members(root.uuid, limit=9) if one.opening == "Book hotel")

    take("tree-of-6", f"trees/{root.uuid}/")
    take("tree-focused", f"trees/{root.uuid}/?focus={booking}&q=flights")


def test_a_tree_of_hundreds(take):
    root = hub.tree_of_many()

    take("tree-of-500", f"trees/{root.uuid}/")
    take("tree-of-500-opened", f"trees/{root.uuid}/?open={root.uuid}.0")
