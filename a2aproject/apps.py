from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.core.checks import CheckMessage


class A2AProjectConfig(AppConfig):
    """The deployment: system checks and the `serve` command."""

    name = "a2aproject"
    label = "a2aproject"

    def ready(self) -> None:
        from a2aproject.checks import register_all

        register_all()


class AdminConfig(SimpleAdminConfig):
    """Django's admin. Only the URLs and the checks load its pages, so that processes without pages start faster."""

    def ready(self) -> None:
        """Register Django's checks of the admin, but load its pages only when they run."""
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_pages, checks.Tags.admin)


def _check_pages(app_configs: Any, **options: Any) -> list[CheckMessage]:
    admin.autodiscover()
    return check_admin_app(app_configs, **options)
