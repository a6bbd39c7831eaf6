"""A signed request acts as its agent in every dialect, and a refusal has the dialect's shape."""

import time
from dataclasses import replace

import pytest
from django.utils import timezone

from mailbox.models import SigningKey
from tests.mailbox.dialects.conformance.routes import every_route, plain_request
from tests.support import factories
from tests.support.api import Api, answered
from tests.support.signing import Signer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]


@every_route
def test_a_signed_request_acts_as_its_agent(door, bob):
    method, path = plain_request(door)

    signed = Signer(bob).call(method, path, headers=door.headers)

    assert answered(signed) == answered(Api(bob, headers=dict(door.headers)).call(method, path))
    assert signed.status_code not in (401, 403)


@every_route
def test_a_refused_signature_names_its_reason_in_the_dialect_s_shape(door, bob):
    signer, (method, path) = Signer(bob), plain_request(door)
    good = signer.request(method, path, headers=door.headers)
    retired = Signer(factories.agent("carol"))
    SigningKey.objects.filter(pubkey=retired.pubkey).update(retired_at=timezone.now())
    of_another_body = signer.request(method, path, {"a": 1}, headers=door.headers)
    refusals = {
        "malformed": replace(good, headers={"Signature": good.headers["Signature"]}),
        "components": replace(good, headers={**good.headers, "A2A-Receive-Attempt-Id": "x"}),
        "expired": signer.request(method, path, headers=door.headers, now=time.time() - 301),
        "wrong": replace(good, target=f"{path}?limit=1"),
        "unknown key": retired.request(method, path, headers=door.headers),
        "digest": replace(of_another_body, body=b'{"a":2}'),
    }

    for fault, request in refusals.items():
        answer = request.send()
        assert answer.status_code == 401, fault
        assert f"({fault})" in door(None).refusal(answer.json())
    assert good.send().status_code not in (401, 403)
    assert "(replayed)" in door(None).refusal(good.send().json())
