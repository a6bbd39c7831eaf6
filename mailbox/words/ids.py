"""Ids as people write them: in full, by their first characters, or by both ends as lists print them."""

import re
from dataclasses import dataclass
from typing import Self
from uuid import UUID

LEAST = 4  # hexadecimal digits of a beginning
_DIGITS = 32
_WRITTEN = re.compile(r"([0-9a-f-]{4,64})(?:(?:…|\.{3})([0-9a-f-]{0,36}))?\*?")


@dataclass(frozen=True, slots=True)
class IdPattern:
    """The first and the last hexadecimal digits of an id, in lower case. An id in full has all 32 in ``first``."""

    first: str
    last: str = ""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read ``cd53``, ``cd53…2a87``, ``cd53...2a87`` or an id in full; None for any other text.

        Hyphens and the case of letters do not count.
        """
        try:
            return cls(UUID(text.strip()).hex)
        except ValueError:
            written = _WRITTEN.fullmatch(text.strip().lower())
        if written is None:
            return None
        first, last = written[1].replace("-", ""), (written[2] or "").replace("-", "")
        return cls(first, last) if len(first) >= LEAST and len(first) + len(last) <= _DIGITS else None

    @property
    def is_whole(self) -> bool:
        """Whether one id alone can match."""
        return len(self.first) == _DIGITS

    @property
    def bounds(self) -> tuple[UUID, UUID]:
        """The least and the greatest id with this beginning."""
        return UUID(self.first.ljust(_DIGITS, "0")), UUID(self.first.ljust(_DIGITS, "f"))
