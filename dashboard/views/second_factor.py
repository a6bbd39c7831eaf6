from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import segno
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from dashboard.base import codes, proof, sessions
from dashboard.base.page import DashboardView
from mailbox.access.people import second_factor, sign_ins
from mailbox.access.people.second_factor import Check

QR_SCALE = 5  # pixels of a module


class SecondFactorPage(DashboardView):
    """The person's own second factor: set up, confirmed by a code, recovery codes, removed."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponse:
        act = request.POST.get("act", "")
        if act == "confirm":
            return self._confirm(request.POST.get("code", ""))
        if (page := proof.demanded(self.request)) is not None:
            return page
        person = self.person
        if act == "renew":
            return self._show(new_codes=second_factor.renew_codes(self.caller, person))
        if act == "start":
            second_factor.start(self.caller, person)
        elif act == "remove":
            second_factor.remove(self.caller, person)
            request.session.pop(sessions.SECOND_FACTOR, None)
            messages.success(request, "Second factor removed. Sign-in now needs only your password.")
        return HttpResponseRedirect(request.get_full_path(), status=HTTPStatus.SEE_OTHER)

    def _confirm(self, typed: str) -> HttpResponse:
        this = self.request.session.session_key
        others = [key for key, _ in sign_ins.of_person(self.person.pk, self.now) if key != this]
        confirmed = second_factor.confirm(self.caller, self.person, typed[: codes.MOST_TYPED], ending=others)
        if isinstance(confirmed, Check):
            return self._show(codes.in_words(confirmed), status=HTTPStatus.UNPROCESSABLE_ENTITY)
        self.request.session[sessions.SECOND_FACTOR] = True
        return self._show(new_codes=confirmed)

    def _show(self, problem: str = "", *, new_codes: Sequence[str] = (), status: int = HTTPStatus.OK) -> HttpResponse:
        confirmed, pending = second_factor.of_person(self.person), second_factor.pending_of(self.person)
        after = self.request.GET.get("next", "")
        context: dict[str, Any] = {
            "confirmed": confirmed,
            "codes_left": second_factor.codes_left(self.person) if confirmed else 0,
            "new_codes": "\n".join(new_codes),
            "problem": problem,
            "required": settings.A2A_REQUIRE_SECOND_FACTOR,
            "after": after if url_has_allowed_host_and_scheme(after, {self.request.get_host()}) else "",
        }
        if pending and not confirmed:
            picture = segno.make(pending.address, error="m").svg_data_uri(scale=QR_SCALE, border=4, light="white")
            context |= {"pending": pending, "picture": picture, "typed_key": second_factor.typed_key(pending)}
        return self.page("ops/second_factor.html", context, status=status)
