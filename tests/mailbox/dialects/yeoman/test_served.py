"""A walk of a YEOMAN peer at a served hub, with a key and through a route."""

import json
import uuid
from urllib.parse import urlsplit

import httpx
import pytest

from mailbox.access.callers import Caller
from mailbox.access.credentials import public_routes
from mailbox.models import PublicRoute
from tests.support import factories
from tests.support import yeoman_recorded as recorded
from tests.support.databases import url_of_the_tests_database
from tests.support.hub import PATIENCE, served

pytestmark = [
    pytest.mark.one_database,
    pytest.mark.processes,
    pytest.mark.smoke,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("default_agent"),
]


def test_a_peer_is_served_with_a_key_and_through_a_route_and_no_log_keeps_its_secrets(alice, tmp_path):
    key, path = factories.key_of(alice), factories.route(alice)
    secret = f"sk-{uuid.uuid4().hex}"
    provision = recorded.envelope("a2a:provision_credentials", json.dumps({"provider": "openai", "api_key": secret}))
    database = url_of_the_tests_database()
    capabilities = json.dumps(recorded.STATIC)
    with (
        served(tmp_path, database_url=database, LOG_LEVEL="DEBUG", A2A_CAPABILITIES=capabilities) as hub,
        httpx.Client(headers=recorded.JSON, timeout=PATIENCE) as client,
    ):
        keys: list[dict[str, str]] = [{"X-API-Key": key}, {"Authorization": f"Bearer {key}"}, {}]
        doors = zip((hub.url, hub.url, hub.url + path), keys, strict=True)
        answers = [
            client.post(f"{base}{slash}{recorded.RECEIVE}", content=message, headers=headers).json()
            for base, headers in doors
            for slash in ("", "/", "//")
            for message in (recorded.envelope("a2a:heartbeat", "{}"), provision)
        ]
        card = client.get(f"{hub.url}{path}/.well-known/agent-card.json").json()
        client.get(f"{hub.url}{path}/nowhere")
        before = client.get(f"{hub.url}{path}/.well-known/a2a-agent").status_code
        public_routes.revoke(Caller.command_line(), PublicRoute.objects.get().public_id)
        after = client.get(f"{hub.url}{path}/.well-known/a2a-agent").status_code

    assert [answer["accepted"] for answer in answers] == [True] * 18
    assert urlsplit(card["url"]).path == path
    assert (before, after) == (200, 404)
    assert secret not in hub.printed
    assert path.split("_")[-2] not in hub.printed
