import re
from random import Random

import pytest

from mailbox.models import Result, Task
from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError
from tests.support import factories
from tools.fuzz import consistency, inputs
from tools.fuzz.mutation import Mutator
from tools.fuzz.watch import Count, limited, tried

FEW = 4000  # of a million


@pytest.mark.deep
@pytest.mark.one_database
@pytest.mark.django_db
def test_no_parser_ends_with_an_undocumented_error():
    counts = {parser.name: count for parser, count in inputs.run(FEW, seed=1)}

    assert [defect for count in counts.values() for defect in count.defects] == []
    assert sum(count.inputs for count in counts.values()) >= FEW
    assert [name for name, count in counts.items() if not count.accepted] == []


@pytest.mark.one_database
def test_a_seed_repeats_every_input():
    drawn = [[Mutator(Random(seed)).raw(["a b", "c"]) for _ in range(20)] for seed in (1, 1, 2)]  # noqa: S311

    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.one_database
def test_an_undocumented_error_and_a_hang_are_defects(monkeypatch):
    monkeypatch.setattr("tools.fuzz.watch.LIMIT", 0.05)
    count = Count()

    def hang() -> None:
        while True:
            pass

    def backtrack() -> None:
        re.fullmatch("(a+)+", "a" * 60 + "b")

    with limited():
        tried(count, "half", lambda: json_text.loads('{"a":'), (InvalidJsonError,))
        tried(count, "half", lambda: json_text.loads('{"a":'), (KeyError,))
        tried(count, "loop", hang, (Exception,))
        tried(count, "pattern", backtrack, (Exception,))

    assert (count.accepted, count.refused, count.inputs) == (0, 1, 4)
    assert [defect.partition(":")[0] for defect in count.defects] == [
        "InvalidJsonError",
        "TooSlowError",
        "TooSlowError",
    ]


@pytest.mark.django_db
def test_tables_that_disagree_with_the_journal_are_reported():
    alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob", "a2a.respond.*")
    factories.drained_task(alice, bob)
    lease = factories.leased_task(alice, bob)
    assert consistency.problems() == []

    Task.objects.filter(pk=lease.task.pk).update(state=Task.State.QUEUED)
    Result.objects.update(delivered_at=None)
    Task.objects.filter(state=Task.State.RESOLVED).update(journal_seq=9)
    problems = " ".join(consistency.problems())

    assert "is live, and its task is not in flight" in problems
    assert "1 rows of the journal for 0 drained results" in problems
    assert "is at 9, and its journal is not" in problems
