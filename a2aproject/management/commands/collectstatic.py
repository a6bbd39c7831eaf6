from typing import Any

from django.conf import settings
from django.contrib.staticfiles.management.commands import collectstatic
from django.utils.module_loading import import_string

from a2aproject.settings.edge import COLLECTED


class Command(collectstatic.Command):
    """Collects static files under hashed names, also where the settings still use those of the packages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storage = import_string(COLLECTED)(location=settings.A2A_STATIC)
