"""A batch answers and writes what its items answer and write as single calls."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from mailbox.life.fast_path.batches import sends, work
from tests.mailbox.life.fast_path.test_differential import SIZE
from tests.support import programs
from tests.support.batch_steps import DrainMany, SendMany, Work
from tests.support.dump import differences
from tests.support.programs import run
from tests.support.world import SENDERS

AT_LEAST = 0.3  # of the items that are tried; below it the comparison proves little

PLAIN = st.lists(programs.SEND, min_size=2, max_size=6)
MIXED = st.lists(st.one_of(programs.SEND, programs.SEND_ODDLY, programs.SEND_A_DUPLICATE), min_size=1, max_size=4)
SEND_MANY = st.builds(
    SendMany,
    sender=st.sampled_from(["alice", "alice", "alice", *SENDERS, "mallory"]),
    tasks=st.one_of(PLAIN, st.tuples(PLAIN, MIXED, PLAIN).map(lambda parts: [one for part in parts for one in part])),
    again=st.lists(st.tuples(programs.NUMBER, st.booleans()), max_size=1),
)
WORK = st.builds(
    Work,
    recipient=st.sampled_from(["bob", "bob", "bob", "ben"]),
    own=st.integers(0, 5),
    posts=st.lists(programs.POST, max_size=2),
    limit=st.integers(1, 5),
    attempt=programs.ATTEMPT,
)
DRAIN_MANY = st.builds(
    DrainMany,
    sender=st.sampled_from(["alice", "alice", *SENDERS]),
    own=st.integers(0, 4),
    limit=st.integers(1, 5),
    attempt=programs.ATTEMPT,
    acked=st.lists(programs.NUMBER, max_size=2),
)
CHAPTERS = [
    *[st.tuples(SEND_MANY, WORK, WORK, DRAIN_MANY, DRAIN_MANY)] * 4,
    *[st.tuples(SEND_MANY, WORK, programs.WAIT, WORK)] * 2,
    *[st.tuples(programs.STEP)] * 2,
]
PROGRAMS = st.lists(st.integers(0, len(CHAPTERS) - 1).flatmap(CHAPTERS.__getitem__), min_size=3, max_size=9).map(
    lambda chapters: [step for chapter in chapters for step in chapter]
)


@pytest.mark.search
@pytest.mark.deep
@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_batches_answer_and_write_what_single_calls_do():
    items: Counter[str] = Counter()

    @SIZE
    @hypothesis.given(PROGRAMS)
    def agree(program: Sequence[Any]) -> None:
        with counted(items):
            together = run(program)
        with one_by_one():
            apart = run(program)
        hypothesis.note("\n".join(map(repr, program)))
        assert differences(together.answers, apart.answers, "answers") == []
        assert differences(together.tables, apart.tables, "tables") == []

    agree()

    assert items["sent"] >= AT_LEAST * items["to send"], items
    assert items["posted"] >= AT_LEAST * items["to post"], items
    assert min(items["leased"], items["drained"], items["acknowledged"]) >= 10, items


@contextmanager
def counted(items: Counter[str]) -> Iterator[None]:
    """Count the items that are served by sets, and those of sends and results that are not."""
    send_first, answers, do_work, drain = sends.send_first, work.answers, work.work, sends.drain

    def sending(*given: Any) -> Any:
        number, sent = send_first(*given)
        items["to send"] += max(number, 1)
        items["sent"] += len(sent)
        return number, sent

    def answering(caller: Any, envelopes: Any, **how: Any) -> Any:
        items["to post"] += len(envelopes)
        return answers(caller, envelopes, **how)

    def working(*given: Any, **how: Any) -> Any:
        worked = do_work(*given, **how)
        items["posted"] += len(worked.results) if worked else 0
        items["leased"] += len(worked.leases or ()) if worked else 0
        return worked

    def draining(*given: Any, **how: Any) -> Any:
        drained = drain(*given, **how)
        items["drained"] += len(drained.results or ()) if drained else 0
        items["acknowledged"] += len(drained.acked) if drained else 0
        return drained

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sends, "send_first", sending)
        patch.setattr(work, "answers", answering)
        patch.setattr(work, "work", working)
        patch.setattr(sends, "drain", draining)
        yield


@contextmanager
def one_by_one() -> Iterator[None]:
    """Leave every item to its single verb."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sends, "send_first", lambda *_: (0, {}))
        patch.setattr(work, "answers", lambda *_, **__: {})
        patch.setattr(work, "work", lambda *_, **__: None)
        patch.setattr(sends, "drain", lambda *_, **__: None)
        yield
