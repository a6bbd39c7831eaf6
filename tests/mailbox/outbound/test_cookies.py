"""A receiver leaves nothing behind in the hub: what it sets in one call never goes out in another."""

import re
from uuid import uuid4

import pytest
from django.utils import timezone

from agentcards import client
from mailbox.background import courier
from mailbox.models import PushDelivery
from mailbox.outbound import exchange
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import ExternalServiceError
from tests.support.http_servers import Handler, serving
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

COOKIES = ["planted=1; Path=/", *(f"c{number}=x; Path=/; Max-Age=99999" for number in range(50))]
PRODUCT = ("a2aproject", "agentcards", "dashboard", "mailbox")


@pytest.fixture
def hostile(settings):
    """Serve a host that sets cookies in every answer. Yield its URL and the headers of the requests that it got."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    seen = []

    class Planting(Handler):
        def answer(self, body):
            seen.append(dict(self.headers))
            self.send(200, b"{}", *(("Set-Cookie", cookie) for cookie in COOKIES))

    with serving(Planting) as url:
        yield url, seen


def callback_to(url):
    now = timezone.now()
    return PushDelivery(delivery_id=uuid4(), url=f"{url}/hook", body="{}", created_at=now, next_attempt_at=now)


def test_no_call_takes_or_sends_a_cookie(hostile):
    url, seen = hostile

    for _ in range(2):
        assert courier.attempt(callback_to(url)).is_success
        exchange.exchange("GET", f"{url}/.well-known/agent-card.json", within=5, headers={})
        with pytest.raises(ExternalServiceError):
            client.submit(BaseUrl(url), "work", skill=None, timeout_ms=1000)

    assert len(seen) == 6
    assert [headers for headers in seen if "Cookie" in headers] == []


def test_the_hub_has_one_outbound_client_beside_that_of_each_call_to_a_provider():
    made = [
        str(path.relative_to(ROOT))
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
        if re.search(
            r"httpx\.(Client|AsyncClient|get|post|stream|request)\(|urlopen\(|requests\.(get|post)", path.read_text()
        )
    ]

    assert sorted(made) == ["dashboard/people/oidc.py", "mailbox/outbound/exchange.py"]
