from __future__ import annotations

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

# The admin pages of Django Q unpickle the rows of these tables, and a schedule names any function to call. A person
# who could write them through the admin could run code.
admin.site.unregister([Failure, OrmQ, Schedule, Success])

admin.site.site_header = admin.site.site_title = "A2A Hub administration"
admin.site.site_url = "/ops/"
