"""The connection to PostgreSQL. Django loads this module by the ENGINE of the database."""

from __future__ import annotations

import time
from datetime import UTC
from types import TracebackType
from typing import Any

from django.db import OperationalError
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.errors import ReadOnlySqlTransaction

from mailbox.database.postgresql.moments import with_quick_moments
from mailbox.database.postgresql.pool import Pool

DRAIN_EVERY = 1.0  # seconds; while a server stays read-only, new connections lead to it too


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose failures on a read-only server are `OperationalError`, as if the server were gone.

    A standby and a demoted primary refuse every change, and mostly for a moment. Django would raise `InternalError`,
    which the hub reports as a failure of its own.
    """

    _drained_at = 0.0  # of this process

    @property
    def pool(self) -> Pool | None:
        """Return this process's pool for the database; None where the settings ask for none."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        pools: dict[str, Pool] = self._connection_pools  # type: ignore[attr-defined]
        if self.alias not in pools:
            parameters = {**self.get_connection_params(), "autocommit": True}  # Django turns it off where it must
            configure = self._configure_connection  # type: ignore[attr-defined]
            pools.setdefault(self.alias, Pool(kwargs=parameters, configure=configure, **options))  # the first wins
        return pools[self.alias]

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        if self.timezone == UTC:
            parameters["context"] = with_quick_moments(parameters["context"])
        return parameters

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return _Errors(self)

    def _set_autocommit(self, autocommit: bool) -> None:
        if self.connection.autocommit != autocommit:  # psycopg's setter costs as much as a short request's whole wait
            super()._set_autocommit(autocommit)  # type: ignore[misc]

    def forget_read_only_connections(self) -> None:
        """Close the pooled connections. A new connection may lead to another server, which takes changes."""
        now, pool = time.monotonic(), self.pool
        if pool is not None and now - DatabaseWrapper._drained_at >= DRAIN_EVERY:
            DatabaseWrapper._drained_at = now
            pool.drain()


class _Errors(DatabaseErrorWrapper):
    wrapper: DatabaseWrapper

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any:
        if isinstance(error, ReadOnlySqlTransaction):
            self.wrapper.errors_occurred = True
            self.wrapper.forget_read_only_connections()
            raise OperationalError(*error.args).with_traceback(traceback) from error
        return super().__exit__(kind, error, traceback)
