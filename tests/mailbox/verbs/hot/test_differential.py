"""The fast form of the hot verbs answers and writes what their whole form answers and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import hypothesis
import pytest

from mailbox.verbs.hot import plain
from tests.support.dump import differences
from tests.support.programs import PROGRAMS, run
from tests.support.steps import Step

HOT_VERBS = ("send_task", "lease_task", "post_result", "drain_result")
AT_LEAST = 0.6  # of the steps that have a fast form; below it the comparison proves little

SIZE = hypothesis.settings(
    derandomize=hypothesis.settings.get_current_profile_name() != "soak",
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.reuse, hypothesis.Phase.generate],  # shrinking takes minutes
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)


@pytest.mark.django_db(transaction=True)
def test_both_forms_answer_and_write_the_same():
    steps: Counter[tuple[str, bool]] = Counter()

    @SIZE
    @hypothesis.given(PROGRAMS)
    def agree(program: Sequence[Step]) -> None:
        with counted(steps):
            fast = run(program)
        with without_the_fast_form():
            whole = run(program)
        hypothesis.note("\n".join(map(repr, program)))
        assert differences(fast.answers, whole.answers, "answers") == []
        assert differences(fast.tables, whole.tables, "tables") == []

    agree()

    served, tried = sum(steps[verb, True] for verb in HOT_VERBS), steps.total()
    assert served >= AT_LEAST * tried, steps


@contextmanager
def counted(steps: Counter[tuple[str, bool]]) -> Iterator[None]:
    """Count the calls of each fast form, by its name and whether it answered."""

    def counting(name: str, form: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            answer = form(*given)
            steps[name, answer is not None] += 1
            return answer

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in HOT_VERBS:
            patch.setattr(plain, name, counting(name, getattr(plain, name)))
        yield


@contextmanager
def without_the_fast_form() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in HOT_VERBS:
            patch.setattr(plain, name, lambda *_: None)
        yield
