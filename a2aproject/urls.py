from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from a2aproject.web.documentation import DocumentView, manual, reference
from a2aproject.web.metrics import metrics
from a2aproject.web.probes import healthz, readyz
from dashboard.people.sign_in import SignIn, SignOut

admin.autodiscover()

_oidc = [path("ops/sign-in/provider/", include("dashboard.people.oidc"))] if settings.A2A_OIDC_ISSUER else []

urlpatterns = [
    *_oidc,
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("", include("mailbox.dialects.covenant.urls")),
    path("", include("mailbox.dialects.corvid.urls")),
    path("", include("mailbox.dialects.marianne.urls")),
    path("", include("mailbox.dialects.yeoman.urls")),
    path("", include("mailbox.dialects.a2a.urls")),
    path("", include("mailbox.dialects.mcp.urls")),
    path("ops/", include("dashboard.urls")),
    path("api/schema/", DocumentView.as_view(), name="api-schema"),
    path("api/docs/", reference, name="api-docs"),
    path("docs/", manual, {"path": ""}, name="manual"),
    path("docs/<path:path>", manual),
    # Before the admin's own pages: people sign in and out by one endpoint, which checks and journals all of it.
    path("admin/login/", SignIn.as_view()),
    path("admin/logout/", SignOut.as_view()),
    path("admin/password_change/", RedirectView.as_view(pattern_name="ops:password")),
    path("admin/password_change/done/", RedirectView.as_view(pattern_name="ops:password")),
    path("admin/", admin.site.urls),
]

handler400 = "a2aproject.web.errors.bad_request"
handler403 = "a2aproject.web.errors.permission_denied"
handler404 = "a2aproject.web.errors.page_not_found"
handler500 = "a2aproject.web.errors.server_error"
