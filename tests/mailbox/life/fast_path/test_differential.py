"""The fast form of the hot verbs answers and writes what their whole form answers and writes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import hypothesis
import pytest

from mailbox.life.fast_path import plain
from mailbox.models import Lease, Result
from tests.support.dump import differences
from tests.support.programs import PROGRAMS, run
from tests.support.steps import Step

HOT_VERBS = ("send_task", "lease_task", "post_result", "drain_result")
AT_LEAST = 0.6  # of the steps that have a fast form, without spent attempts; below it the comparison proves little

SPENT_AT_LEAST = 3  # calls of each verb under a spent attempt id

SIZE = hypothesis.settings(
    derandomize=hypothesis.settings.get_current_profile_name() != "soak",
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.reuse, hypothesis.Phase.generate],  # shrinking takes minutes
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)


@pytest.mark.search
@pytest.mark.deep
@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_both_forms_answer_and_write_the_same():
    steps: Counter[tuple[str, bool]] = Counter()
    spent: Counter[str] = Counter()

    @SIZE
    @hypothesis.given(PROGRAMS)
    def agree(program: Sequence[Step]) -> None:
        with counted(steps, spent):
            fast = run(program)
        with without_the_fast_form():
            whole = run(program)
        hypothesis.note("\n".join(map(repr, program)))
        assert differences(fast.answers, whole.answers, "answers") == []
        assert differences(fast.tables, whole.tables, "tables") == []

    agree()

    served, tried = sum(steps[verb, True] for verb in HOT_VERBS), steps.total() - spent.total()
    assert served >= AT_LEAST * tried, steps
    assert min(spent["lease_task"], spent["drain_result"]) >= SPENT_AT_LEAST, spent


@contextmanager
def counted(steps: Counter[tuple[str, bool]], spent: Counter[str]) -> Iterator[None]:
    """Count the calls of each fast form, by its name and whether it answered, and those under a spent attempt id."""

    def counting(name: str, form: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            spent[name] += isinstance(given[1], UUID) and is_spent(given[1])
            answer = form(*given)
            steps[name, answer is not None] += 1
            return answer

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in HOT_VERBS:
            patch.setattr(plain, name, counting(name, getattr(plain, name)))
        yield


def is_spent(attempt_id: UUID) -> bool:
    """Whether a lease of this attempt has ended, or a result of it was acknowledged."""
    named = {"receive_attempt_id": attempt_id}
    ended = Lease.objects.filter(**named, ended_at__isnull=False)
    return ended.exists() or Result.objects.filter(**named, acked_at__isnull=False).exists()


@contextmanager
def without_the_fast_form() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in HOT_VERBS:
            patch.setattr(plain, name, lambda *_: None)
        yield
