from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_q.models import Failure, OrmQ, Schedule, Success

from dashboard.admin.bounded import RowsAdmin

# The own admin pages of Django Q change these tables and run jobs. The hub has no queue.
admin.site.unregister([Failure, OrmQ, Schedule, Success])


class JobsAdmin(RowsAdmin):
    """Rows of Django Q. Only the task cluster writes them."""

    def page_of(self, row: Any) -> str:
        return reverse("ops:scheduler")


@admin.register(Schedule)
class ScheduleAdmin(JobsAdmin):
    list_display = ("func", "minutes", "next_run", "last_run", "success")
    fields = ("func", "schedule_type", "minutes", "next_run", "last_run", "success")
    ordering = ("func",)


class JobResultAdmin(JobsAdmin):
    """Results of jobs. A result is pickled: None after a success, else the text of the failure."""

    list_filter = ("func",)
    ordering = ("-stopped",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("args", "kwargs")


@admin.register(Success)
class SuccessAdmin(JobResultAdmin):
    list_display = ("name", "started", "stopped", "time_taken")
    fields = ("func", "started", "stopped", "time_taken")


@admin.register(Failure)
class FailureAdmin(JobResultAdmin):
    list_display = ("name", "started", "stopped", "time_taken", "result")
    fields = ("func", "started", "stopped", "time_taken", "result")


# Their pages show the keys of second factors. The dashboard and an action on people do all that is needed.
admin.site.unregister([StaticDevice, TOTPDevice])

# Names in the words of people who manage a hub.
apps.get_app_config("auth").verbose_name = "People and roles"
apps.get_app_config("axes").verbose_name = "Failed sign-ins"

admin.site.site_header = admin.site.site_title = "A2A Hub · Admin"
admin.site.index_title = "Admin"
admin.site.site_url = "/ops/"
