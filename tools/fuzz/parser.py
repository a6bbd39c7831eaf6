"""A parser under test."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from mailbox.words.errors import InvalidJsonError, InvalidRequestError
from tools.fuzz.mutation import Mutator

INVALID = (InvalidRequestError, InvalidJsonError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A parser with its two sources of inputs: mutated examples, and a strategy of hypothesis.

    ``check`` parses an input and compares the answer with an inverse or an independent reader, by assertions.
    ``refusals`` are the parser's documented errors. ``share`` is its part of all inputs, in thousandths.
    """

    name: str
    share: int
    draw: Callable[[Mutator], Any]
    strategy: SearchStrategy[Any]
    check: Callable[[Any], object]
    refusals: tuple[type[Exception], ...] = INVALID
