from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
os.environ["A2A_IS_WEB_PROCESS"] = "1"

application = get_wsgi_application()

# What is loaded by now stays for the life of the process: a collection need not look at it again and again.
gc.collect()
gc.freeze()
