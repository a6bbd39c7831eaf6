from __future__ import annotations

from django.apps import apps
from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_q.models import Failure, OrmQ, Schedule, Success

# The admin pages of Django Q unpickle the rows of these tables, and a schedule names any function to call. A person
# who could write them through the admin could run code.
admin.site.unregister([Failure, OrmQ, Schedule, Success])

# Their pages show the keys of second factors. The dashboard and an action on people do all that is needed.
admin.site.unregister([StaticDevice, TOTPDevice])

# Names in the words of people who manage a hub.
apps.get_app_config("auth").verbose_name = "People and roles"
apps.get_app_config("axes").verbose_name = "Failed sign-ins"

admin.site.site_header = admin.site.site_title = "A2A Hub · Admin"
admin.site.index_title = "Admin"
admin.site.site_url = "/ops/"
