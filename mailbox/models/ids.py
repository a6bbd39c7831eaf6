from __future__ import annotations

from django.db.models import Q

from mailbox.words.ids import IdPattern


def matching(field: str, pattern: IdPattern) -> Q:
    """Return the condition that the id in ``field`` matches. It is a range, which the index of the field serves."""
    if pattern.is_whole:
        return Q(**{field: pattern.bounds[0]})
    begins = Q(**{f"{field}__range": pattern.bounds})
    return begins & Q(**{f"{field}__endswith": pattern.last}) if pattern.last else begins
