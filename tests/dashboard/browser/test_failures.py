"""An operator finds what fails on an hour of data, and sends it again."""

import pytest

from mailbox.models import Task
from mailbox.upkeep import failure_filing
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.mark.smoke
def test_a_group_of_failures_is_sent_again(browse):
    hub.on_fire()
    failure_filing.file_failures()
    page = browse("ana")
    page.goto("/ops/failures/?range=1h")

    row = page.locator("#rows tbody tr", has_text="card declined")
    assert row.locator("td.num").inner_text() == "9"
    row.locator("a.name").click()
    page.get_by_role("button", name="Preview send again").click()
    page.get_by_label("Send them too").check()
    page.get_by_label("Reason").fill("the bank is up again, INC-4413")
    page.get_by_label("Type 9 to confirm").fill("9")
    page.get_by_role("button", name="Send the chosen tasks again").click()

    page.get_by_text("9 sent again").wait_for()
    assert Task.objects.queued().filter(sender__display="operators@hub").count() == 9
    page.locator("#rows tbody tr").first.locator("td a").first.click()
    page.get_by_role("heading", name="Charge card").wait_for()
