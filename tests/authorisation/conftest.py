from typing import Any

import pytest


@pytest.fixture(autouse=True)
def no_stream_lasts(settings: Any) -> None:
    settings.A2A_FIRST_WORD_MS = settings.A2A_STREAM_LIMIT_MS = settings.A2A_BLOCKING_WAIT_MS = 1
