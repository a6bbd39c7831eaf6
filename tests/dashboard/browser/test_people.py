"""The pages of people in a browser: the second factor, the password, the sessions, the proof."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from dashboard.base import sessions
from mailbox.access.callers import Role
from mailbox.access.people import second_factor
from tests.support import factories
from tests.support.axe import violations
from tests.support.codes import code_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

PASSWORD = "correct horse battery"
# The browser focuses the field after it has loaded the page.
FOCUSED = "input:focus"
LOOKS = [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)]


@pytest.fixture
def ada():
    factories.person("ada", Role.ADMIN)
    ada = User.objects.get(username="ada")
    ada.set_password(PASSWORD)
    ada.is_staff = True
    ada.save()
    return ada


def checked(page, name):
    """Check the page for faults, and that it is no wider than its window."""
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_a_second_factor_is_set_up_and_used_by_keyboard(browse, ada, theme, width):
    page = browse("ada", theme=theme, width=width)
    page.goto("/ops/settings/password/")
    checked(page, "password")
    page.goto("/ops/settings/second-factor/")
    checked(page, "second-factor-off")

    page.locator("main button.primary").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("img")
    checked(page, "second-factor-pending")
    pending = second_factor.pending_of(ada)
    assert pending is not None
    page.locator("#id_code").focus()
    page.keyboard.type(code_of(pending))
    page.keyboard.press("Enter")
    page.wait_for_selector("#recovery-codes")
    checked(page, "second-factor-codes")
    codes = page.inner_text("#recovery-codes").split()
    page.click("text=I have saved them")
    page.wait_for_selector("text=10 recovery codes are left")
    checked(page, "second-factor-on")

    page.context.clear_cookies(name="sessionid")
    page.goto("/ops/sign-in/")
    page.fill("#id_username", "ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Enter your code")
    checked(page, "second-step")
    page.wait_for_selector(FOCUSED)
    page.keyboard.type(codes[0])
    page.keyboard.press("Enter")
    page.wait_for_url("**/ops/")

    assert second_factor.codes_left(ada) == 9


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_a_change_of_rights_asks_for_the_password_and_goes_on(browse, ada, theme, width, alice):
    grant = factories.grant(alice, "a2a.compact")
    page = browse("ada", theme=theme, width=width)
    page.goto("/admin/mailbox/capabilitygrant/")
    (row,) = Session.objects.all()
    kept = row.get_decoded() | {sessions.PROVED_AT: 0}
    row.session_data = Session.objects.encode(kept)
    row.save()
    page.check(f"input[value='{grant.pk}']")
    page.select_option("select[name=action]", "revoke")

    page.click("button[name=index]")
    page.wait_for_selector("text=Confirm your identity")
    checked(page, "proof")
    page.wait_for_selector(FOCUSED)
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=1 revoked")

    grant.refresh_from_db()
    assert grant.revoked_at is not None


def test_a_password_is_changed_and_a_wrong_one_is_pointed_out(browse, ada):
    page = browse("ada", may_fail=True)
    page.goto("/ops/settings/password/")
    page.fill("#id_old_password", "wrong")
    page.fill("#id_new_password1", "another long sentence")
    page.fill("#id_new_password2", "another long sentence")
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-invalid]")
    page.wait_for_selector("input[name=old_password]:focus")
    checked(page, "password-wrong")

    page.fill("#id_old_password", PASSWORD)
    page.fill("#id_new_password1", "another long sentence")
    page.fill("#id_new_password2", "another long sentence")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Password changed")

    ada.refresh_from_db()
    assert ada.check_password("another long sentence")
