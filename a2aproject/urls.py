from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from a2aproject.health import healthz, readyz

urlpatterns = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("", include("mailbox.dialects.covenant.urls")),
    path("", include("mailbox.dialects.corvid.urls")),
    path("", include("mailbox.dialects.marianne.urls")),
    path("", include("mailbox.dialects.yeoman.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(url_name="api-schema"), name="api-docs"),
    path("admin/", admin.site.urls),
]

handler400 = "a2aproject.errors.bad_request"
handler403 = "a2aproject.errors.permission_denied"
handler404 = "a2aproject.errors.page_not_found"
handler500 = "a2aproject.errors.server_error"
