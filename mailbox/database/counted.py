from __future__ import annotations

from django.db.models import F, IntegerField, Model, QuerySet, Subquery


class Counted(Subquery):
    """How many rows there are of a query, which may have a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, found: QuerySet[Model]) -> Counted:
        """Count no further than one more than ``most``."""
        return cls(found.order_by().values("pk")[: most + 1])


class Summed(Subquery):
    """The sum of one column over the rows of a query, which may have a limit; None where there is no row."""

    template = "(SELECT SUM(summed) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, found: QuerySet[Model], field: str) -> Summed:
        """Sum over no more rows than one more than ``most``."""
        return cls(found.order_by().values(summed=F(field))[: most + 1])
