"""The walk of a browser to the provider and back."""

from mailbox.models import AuditEvent

START, BACK, SIGN_IN = "/ops/sign-in/provider/", "/ops/sign-in/provider/callback/", "/ops/sign-in/"
REFUSED = f"{SIGN_IN}?refused"
FAILED = f"{SIGN_IN}?failed"
REFUSAL = (
    "person_sign_in_failed",
    "anonymous",
    {"username": "unknown name", "reason": "provider", "count": 1},
)
LINK = ("person_changed", "user:ana", {"username": "ana", "provider_account": "linked"})


def sign_in(provider, browser, after=""):
    """Walk to the provider and back; return the answer of the page to which the provider sends people back."""
    to_provider = browser.get(START, {"next": after} if after else {})
    assert to_provider.status_code == 302
    assert to_provider["Location"].startswith(f"{provider.url}/authorize?")
    return browser.get(BACK, provider.authorise(to_provider["Location"]))


def is_signed_in(browser):
    return "_auth_user_id" in browser.session


def rows():
    kinds = ("person_signed_in", "person_sign_in_failed", "person_added", "person_changed")
    return [(row.kind, row.actor, row.fields) for row in AuditEvent.objects.filter(kind__in=kinds).order_by("pk")]
