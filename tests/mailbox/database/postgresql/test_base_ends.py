"""The server ends a session whose transaction is idle or lasts too long. The error is an outage."""

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection

from mailbox.database.postgresql.base import DatabaseWrapper


class TooLongError(psycopg.InternalError):
    """As psycopg raises it where it knows no class for the code."""

    sqlstate = "25P04"


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (psycopg.errors.IdleInTransactionSessionTimeout, OperationalError),
        (TooLongError, OperationalError),
        (psycopg.errors.InFailedSqlTransaction, InternalError),
        (psycopg.InternalError, InternalError),
    ],
)
def test_the_timeouts_of_a_transaction_end_its_session(error, raised):
    own = DatabaseWrapper(dict(connection.settings_dict))

    with pytest.raises(raised, match="terminating"), own.wrap_database_errors:
        raise error("terminating connection due to a timeout")

    assert own.errors_occurred
