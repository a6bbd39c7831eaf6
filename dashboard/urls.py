from __future__ import annotations

from django.urls import path

from dashboard.views import leases, repairs, session

app_name = "ops"
urlpatterns = [
    path("", leases.Start.as_view(), name="overview"),
    path("leases/", leases.LeaseList.as_view(), name="leases"),
    path("leases/<uuid:lease_id>/", leases.LeasePage.as_view(), name="lease"),
    path("leases/<uuid:lease_id>/requeue/", repairs.Requeue.as_view(), name="requeue"),
    path("leases/<uuid:lease_id>/force-error/", repairs.ForceError.as_view(), name="force-error"),
    path("settings/", session.Settings.as_view(), name="settings"),
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("favicon.svg", session.Favicon.as_view(), name="favicon"),
]
