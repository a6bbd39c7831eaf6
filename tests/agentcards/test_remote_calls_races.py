"""Several carriers lease tasks of a remote agent at the same moment."""

import pytest

from agentcards import profiles
from agentcards.models import RemoteCall
from mailbox.access.callers import Caller
from mailbox.models import Lease
from tests.support import factories
from tests.support.races import ROUNDS, race
from tests.support.remote_rounds import take_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("attempt", ROUNDS)
def test_several_carriers_together_keep_the_limit_of_one_agent(alice, settings, attempt):
    settings.A2A_REMOTE_CONCURRENCY = 3
    rita = factories.agent("rita")
    profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": "https://rita.example"})
    for _ in range(8):
        factories.sent_task(alice, rita)

    outcomes = race(*[take_all] * 3)

    assert sum(len(outcome.value) for outcome in outcomes) == 3
    assert RemoteCall.objects.count() == Lease.objects.count() == 3
