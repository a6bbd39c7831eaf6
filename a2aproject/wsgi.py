"""The WSGI application of a web process: Django's handler, with all that it needs imported before the first request.

Every import happens here, because an import without a free file descriptor would fail. The import of Django REST
framework would load each optional package that is installed, so the unused packages are hidden from it.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

from a2aproject.serving import connections, shared_counts, stopping

if TYPE_CHECKING:
    from a2aproject.web.bodies import Application

UNUSED = ("requests", "pygments", "django.contrib.postgres")  # 11 MB of each web process, with what they load in turn


def _load_rest_framework() -> None:
    """Import the framework's module of optional packages as if the unused packages were missing.

    Others may import them afterwards. Call this before the framework is imported.
    """
    hidden = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: the import of this name fails
    try:
        importlib.import_module("rest_framework.compat")
    finally:
        for name in hidden:
            del sys.modules[name]


gc.disable()  # until all modules are loaded, which live as long as the process
stopping.end_at_once()
stopping.follow_parent()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
os.environ["A2A_IS_WEB_PROCESS"] = "1"
shared_counts.join()


def _handler() -> WSGIHandler:
    django.setup(set_prefix=False)
    _load_rest_framework()
    from a2aproject.web.handler import Handler, without_idle_receivers

    without_idle_receivers()
    return Handler()


_django = _handler()

# Django imports all pages at its first request, and what the middlewares need. Without a free file descriptor the
# imports would fail. A path of no program passes all middlewares.
_PROBE = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http"}
_django.get_response(WSGIRequest({**_PROBE, "SERVER_NAME": "", "SERVER_PORT": "", "wsgi.input": io.BytesIO()}))

# Django imports this codec at its first answer of 4xx. Without a free file descriptor the import fails, and that error
# would be answered as a 500, from then on at each 4xx.
"".encode("unicode_escape")


def _prepared() -> Application:
    """Return the application with bounded bodies. Its waits are counted, and end when the process is stopped."""
    from a2aproject.web import bodies, observation
    from mailbox.database import waiting

    stopping.call_at_stop(waiting.end)
    observation.follow_waits()
    connections.note_in_requests()
    connections.end_unread()
    return bodies.bounded(_django)


application = _prepared()

# The objects loaded by now live as long as the process, so garbage collections need not scan them. A page makes tens of
# thousands of objects. By default every fifth page would wait some 100 ms for a collection of all that is loaded later.
gc.collect()
gc.freeze()
gc.set_threshold(10_000)
gc.enable()
