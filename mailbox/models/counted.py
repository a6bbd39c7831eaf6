from __future__ import annotations

from django.db.models import IntegerField, Model, QuerySet, Subquery


class Counted(Subquery):
    """How many rows there are of a query, which may have a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, found: QuerySet[Model]) -> Counted:
        """Count no further than one more than ``most``."""
        return cls(found.order_by().values("pk")[: most + 1])
