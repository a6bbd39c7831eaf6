from __future__ import annotations

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

# Their pages unpickle what the tables hold, and a schedule names any function to call: whoever could write there
# through the admin could run code.
admin.site.unregister([Failure, OrmQ, Schedule, Success])

admin.site.site_header = admin.site.site_title = "A2A Hub administration"
admin.site.site_url = "/ops/"
