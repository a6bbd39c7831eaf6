"""The connection to SQLite. Django loads this module by the ENGINE of the database."""

import sqlite3
import sys
from collections import deque
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that stays open for other threads of this process when its own thread closes it.

    A thread closes its connection before it waits. A new connection reads the schema and prepares every statement
    again, which costs several times the statements of a short request. OPTIONS have ``kept``: how many connections of
    the process stay open. A connection with a transaction, with a cursor or after an error does not.
    """

    _kept: deque[tuple[str, sqlite3.Connection]] = deque()  # of this process, with their files; the newest is taken
    _most = 0
    _references = 0  # to the connection, while it has no cursor

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        self._most = parameters.pop("kept", 0)
        return parameters

    def get_new_connection(self, conn_params: dict[str, Any]) -> sqlite3.Connection:
        """Return a kept connection to the file, or open one."""
        while self._kept:
            try:
                file, kept = self._kept.pop()
            except IndexError:  # another thread took the last
                break
            if file == conn_params["database"]:
                return kept
            kept.close()
        opened: sqlite3.Connection = super().get_new_connection(conn_params)
        return opened

    def init_connection_state(self) -> None:
        self._references = sys.getrefcount(self.connection)
        super().init_connection_state()

    def _close(self) -> None:
        if len(self._kept) < self._most and self._is_clean():
            self._kept.append((self.settings_dict["NAME"], self.connection))
        else:
            super()._close()  # type: ignore[misc]

    def _is_clean(self) -> bool:
        """Whether another thread finds the connection as if it were new.

        A cursor with unread rows would show the next thread the rows of an earlier time. Each cursor refers to its
        connection.
        """
        has_cursor = sys.getrefcount(self.connection) > self._references
        return not (has_cursor or self.in_atomic_block or self.errors_occurred or self.connection.in_transaction)
