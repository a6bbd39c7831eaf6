from __future__ import annotations

import pytest

from tests.support.api import Api


@pytest.fixture
def door(request, settings):
    """Serve the dialect of a door; return the door."""
    chosen = request.param
    settings.ROOT_URLCONF = chosen.urlconf
    return chosen


@pytest.fixture
def operator(olga):
    return Api(olga)
