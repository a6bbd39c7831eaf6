"""Keeping handed-out secrets out of what is printed."""

from __future__ import annotations

import logging

from mailbox import key_format

_formatter = logging.Formatter()


class RedactSecrets(logging.Filter):
    """Cut API keys and route tokens short in every record, its traceback included; drop none."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = key_format.redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = key_format.redact(record.exc_text)
        return True
