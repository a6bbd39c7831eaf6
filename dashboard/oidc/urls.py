from __future__ import annotations

from django.urls import path
from mozilla_django_oidc.views import OIDCAuthenticationRequestView

from dashboard.oidc.views import Callback

urlpatterns = [
    path("", OIDCAuthenticationRequestView.as_view(), name="oidc-sign-in"),
    path("callback/", Callback.as_view(), name="oidc-callback"),
]
