import re

import pytest

from mailbox.access.capabilities import ROLE_ACTIONS
from mailbox.access.requests import GRANTABLE, TARGETED
from tests.support import pages

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/concepts/capabilities.md")
PEOPLE = pages.page("docs/operate/people-and-roles.md")


def test_the_listed_capabilities_are_the_capabilities_that_can_be_granted() -> None:
    listed = re.findall(r"`(a2a\.[^`]+)`", pages.first_cells(PAGE))

    assert sorted(listed) == sorted([*(f"{verb}.<agent>" for verb in TARGETED), *GRANTABLE])


def test_every_role_is_described() -> None:
    assert [role for role in ROLE_ACTIONS if f"**{role}**" not in PEOPLE] == []
