"""The routes of a hub with a provider."""

from django.urls import include, path

from a2aproject.urls import handler400, handler403, handler404, handler500, urlpatterns

__all__ = ["handler400", "handler403", "handler404", "handler500"]

urlpatterns = [path("ops/sign-in/provider/", include("dashboard.people.oidc")), *urlpatterns]
