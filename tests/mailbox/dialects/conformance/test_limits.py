"""Rates and quotas refuse with 429 at every door, and their headers stand in the answer."""

import pytest
from django.db import connection

from mailbox.access.limits import rates
from tests.mailbox.dialects.conformance.registry import http_doors_that
from tests.mailbox.dialects.conformance.routes import every_route, plain_request, refused
from tests.support.api import Api
from tests.support.doors import Act, Refused
from tests.support.pauses import stop_rates

# A refusal undoes the statement of the fast form, and on PostgreSQL the test's own transaction with it.
pytestmark = pytest.mark.django_db(transaction=connection.vendor == "postgresql")

UNKNOWN = "Bearer a2a_AAAAAAAA_bTEjcZOctuMMhhvbX7hrmzZER5AfidHM_7SueM2"


@pytest.fixture
def slow(settings, monkeypatch):
    """Let an agent, and an address, send three requests at once and one a second."""
    settings.WEB_WORKERS = 1
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 1
    settings.A2A_AGENT_REQUESTS_BURST = settings.A2A_ADDRESS_REQUESTS_BURST = 3
    stop_rates(monkeypatch)
    yield
    rates.forget()


def refused_by_its_rate(client, method, path):
    """Repeat a request until its rate refuses it; return the headers of the limit."""
    for _ in range(3):
        client.api.call(method, path)
    assert refused(client, method, path) == 429
    return [client.response[name] for name in ("Retry-After", "RateLimit-Policy", "RateLimit")]


@pytest.mark.one_database
@pytest.mark.usefixtures("slow")
@every_route
def test_an_agent_beyond_its_rate_is_refused_in_the_dialect_s_shape(door, bob):
    limit = refused_by_its_rate(door(bob), *plain_request(door))

    assert limit == ["1", '"caller";q=3;w=3', '"caller";r=0;t=1']


@pytest.mark.one_database
@pytest.mark.usefixtures("slow", "bob")
@every_route
@pytest.mark.parametrize("key", [None, "nonsense", UNKNOWN])
def test_an_address_beyond_its_rate_is_refused_before_its_key_is_read(door, key):
    client = door(None)
    client.api = Api(headers={**door.headers, **({"Authorization": key} if key else {})})

    assert refused_by_its_rate(client, *plain_request(door)) == ["1", '"address";q=3;w=3', '"address";r=0;t=1']


@pytest.mark.usefixtures("default_agent")
@http_doors_that(Act.SEND)
def test_a_send_beyond_the_quota_is_refused_in_the_dialect_s_shape(door, alice, settings):
    settings.A2A_QUOTA_QUEUED = 1
    sender = door(alice)
    sender.send("one")

    with pytest.raises(Refused) as refusal:
        sender.send("two")

    assert refusal.value.status == 429
    assert "alice@local has reached its quota of 1 queued tasks." in refusal.value.message
    if sender.response.status_code == 429:
        limit = [sender.response[name] for name in ("Retry-After", "RateLimit-Policy", "RateLimit")]
        assert limit == ["1", '"queued";q=1', '"queued";r=0;t=1']
