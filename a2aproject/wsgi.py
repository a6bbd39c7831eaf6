from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application

from a2aproject.serving import stopping

stopping.end_at_once()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
os.environ["A2A_IS_WEB_PROCESS"] = "1"

application = get_wsgi_application()


def _answer_who_waits() -> None:
    from mailbox.database import waiting

    waiting.end()


stopping.hear(_answer_who_waits)

# What is loaded by now stays for the life of the process: a collection need not look at it again and again.
gc.collect()
gc.freeze()
