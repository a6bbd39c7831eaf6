"""Runs the parsers on mutated examples, and on inputs of hypothesis."""

from collections.abc import Iterator
from random import Random

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tools.fuzz import bodies, official, remote, texts
from tools.fuzz.mutation import Mutator
from tools.fuzz.parser import Parser
from tools.fuzz.watch import Count, limited, tried

PARSERS = (*texts.PARSERS, *bodies.PARSERS, *official.PARSERS, *remote.PARSERS)
BY_HYPOTHESIS = 50  # one input in so many; hypothesis draws far more slowly than the mutations
SHOWN = 2000  # characters of an input that a defect repeats


def run(inputs: int, seed: int) -> Iterator[tuple[Parser, Count]]:
    """Give all parsers about ``inputs`` inputs together; yield the count of each. A seed repeats the run."""
    with limited():
        for parser in PARSERS:
            count = Count()
            share = inputs * parser.share // 1000
            mutator = Mutator(Random(f"{seed} {parser.name}"))  # noqa: S311
            for _ in range(share - share // BY_HYPOTHESIS):
                _try(parser, count, parser.draw(mutator))
            _by_hypothesis(parser, count, share // BY_HYPOTHESIS, seed)
            yield parser, count


def _by_hypothesis(parser: Parser, count: Count, inputs: int, seed: int) -> None:
    @seeded(seed)
    @settings(
        max_examples=max(1, inputs),
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(parser.strategy)
    def each(value: object) -> None:
        _try(parser, count, value)

    each()


def _try(parser: Parser, count: Count, value: object) -> None:
    tried(count, repr(value)[:SHOWN], lambda: parser.check(value), parser.refusals)
