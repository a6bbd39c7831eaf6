import pytest

from mailbox.access.limits import rates
from tests.support.api import Api


@pytest.fixture
def door(request, settings):
    """Serve the dialect of a door; return the door."""
    chosen = request.param
    settings.ROOT_URLCONF = chosen.urlconf
    return chosen


@pytest.fixture
def unlimited(settings):
    """Let the rates refuse no request."""
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 0
    rates.forget()
    yield
    rates.forget()


@pytest.fixture
def operator(olga):
    return Api(olga)
