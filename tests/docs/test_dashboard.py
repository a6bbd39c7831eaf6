import pytest

from dashboard.base.frame import PLACES
from tests.support import pages

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/operate/dashboard.md")


def test_every_page_of_the_menu_is_described() -> None:
    listed = [cell.strip() for cell in pages.first_cells(PAGE.partition("## Keys")[0]).splitlines()]

    assert sorted(listed[2:]) == sorted(place.name for place in PLACES)
