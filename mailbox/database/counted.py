from __future__ import annotations

from django.db.models import F, IntegerField, Model, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.sql import Query


class Counted(Subquery):
    """The number of rows of a query, which may have a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, rows: QuerySet[Model]) -> Counted:
        """Count up to one row more than ``most``, and no further."""
        return cls(rows.order_by().values("pk")[: most + 1])


class Summed(Subquery):
    """The sum of one column over the rows of a query, which may have a limit; None for no rows."""

    template = "(SELECT SUM(summed) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, rows: QuerySet[Model], field: str) -> Summed:
        """Sum over up to one row more than ``most``, and no further."""
        return cls(rows.order_by().values(summed=F(field))[: most + 1])


def together(*figures: Subquery | Combinable) -> Query:
    """Return one query for the values of these figures. It reads no table itself."""
    query = Query(None)
    for number, figure in enumerate(figures):
        query.add_annotation(figure, f"figure{number}")
    return query
