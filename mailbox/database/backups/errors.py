"""The error of backups."""

from __future__ import annotations

from mailbox.words.errors import MailboxError


class BackupError(MailboxError):
    """The backup cannot be made or restored."""

    code = "backup_refused"
