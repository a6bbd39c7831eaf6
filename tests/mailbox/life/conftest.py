"""Races run twice: with the bell, and without it. A ring is a hint, so no rule may depend on it."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.endswith("_races"):
        metafunc.fixturenames.append("wake_ups")
        metafunc.parametrize("wake_ups", ["auto", "poll"], indirect=True, ids=["bell", "no bell"])


@pytest.fixture
def wake_ups(request: pytest.FixtureRequest, settings: object) -> None:
    settings.A2A_WAKE_UPS = request.param  # type: ignore[attr-defined]
