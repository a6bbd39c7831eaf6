from __future__ import annotations

import logging

from django.contrib.auth import login
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView

from dashboard.base import passwords
from dashboard.oidc.provider import UnusableAnswerError
from dashboard.views import second_step
from mailbox.access.people import second_factor, sign_ins
from mailbox.access.people.sign_ins import Cause

_logger = logging.getLogger(__name__)


class Callback(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # its package has no types
    """The page to which the provider sends a person back. A person with a second factor must enter a code next."""

    def get(self, request: HttpRequest) -> HttpResponse:
        try:
            response: HttpResponse = super().get(request)
        except (UnusableAnswerError, SuspiciousOperation) as error:
            _logger.warning("a sign-in by OpenID Connect failed: %s", error)
            return self._refused("failed")
        return response

    def login_success(self) -> HttpResponse:
        after: str = self.success_url
        if second_factor.of_person(self.user):
            return second_step.begin(self.request, self.user, after)
        # The session is one of the hub. It ends with the person's account, and outlives these settings.
        login(self.request, self.user, backend=second_step.BACKEND)
        sign_ins.signed_in(self.user.get_username(), passwords.address_of(self.request))
        return HttpResponseRedirect(after)

    def login_failure(self) -> HttpResponse:
        return self._refused("refused")

    def _refused(self, why: str) -> HttpResponse:
        """Send the person to the sign-in page, which has a sentence for ``refused`` and one for ``failed``."""
        sign_ins.refused("", Cause.PROVIDER, passwords.address_of(self.request))
        return HttpResponseRedirect(f"{reverse('ops:sign-in')}?{why}")
