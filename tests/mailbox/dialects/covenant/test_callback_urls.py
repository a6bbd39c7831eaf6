"""The URL of a callback may carry a token: its sender reads it whole, people without its query."""

import pytest

from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

URL = "https://hooks.example/done?token=geheim"


def test_people_read_a_callback_s_url_without_its_query_and_its_sender_reads_the_whole(alice, olga):
    row = factories.PushDeliveryFactory.create(sender=alice.agent, url=URL)
    row.log.create(number=1, at=row.created_at, problem=f"no answer from {URL}")

    of_sender = Api(alice).get("/a2a/deliveries").json()["deliveries"]
    of_person = Api(olga).get("/a2a/deliveries").json()["deliveries"]

    assert [one["url"] for one in of_sender] == [URL]
    assert [one["url"] for one in of_person] == ["https://hooks.example/done?…"]
    assert "geheim" not in str(of_person)
