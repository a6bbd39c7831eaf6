"""The view of every page under ``/ops/``. It lets in people of a group, and asks the gate before each change.

A choice of the address has known values. An unknown value is refused, so a page never shows other rows than requested.
"""

import hashlib
import json
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from dashboard.base import frame, lost_form, preferences, sessions
from dashboard.base.frame import Attention, HtmxRequest
from dashboard.figures import thresholds
from dashboard.wording.journal import in_words
from mailbox.access import audit, callers, capabilities, requests
from mailbox.access.credentials.authentication import role_of
from mailbox.inspection import lookup
from mailbox.inspection.search.terms import Moment
from mailbox.models import AuditEvent
from mailbox.words import errors

Value = TypeVar("Value")
SLOW = 0.5  # seconds; slower live pages reload less often
UNKNOWN: dict[type[errors.MailboxError], str] = {
    errors.UnknownTaskError: "Task not found",
    errors.UnknownAgentError: "Agent not found",
    errors.UnknownDeliveryError: "Callback not found",
    errors.UnknownPlanError: "Repair not found",
    errors.UnknownReplayEntryError: "Cached result not found",
}
STATUS: dict[type[errors.MailboxError], int] = {
    errors.InvalidRequestError: HTTPStatus.BAD_REQUEST,
    errors.CapabilityMissingError: HTTPStatus.FORBIDDEN,
    errors.CapabilityScopeMismatchError: HTTPStatus.FORBIDDEN,
    **dict.fromkeys(UNKNOWN, HTTPStatus.NOT_FOUND),
}
HEADING = {
    HTTPStatus.BAD_REQUEST: "Invalid address",
    HTTPStatus.FORBIDDEN: "Permission denied",
    HTTPStatus.NOT_FOUND: "Not found",
}


# The actions that a page may offer beside its own, by their names in templates.
ACTIONS = {
    "requeue": requests.REQUEUE,
    "force_error": requests.FORCE_ERROR,
    "send": requests.SEND,
    "resend": requests.RESEND,
    "drop": requests.DROP_REPLAY,
    "share": requests.SHARE_VIEWS,
    "grant": requests.GRANT,
}


class DashboardView(View):
    """A page for a signed-in person. Its POST needs the action ``needs``; a refusal is journalled.

    A page with a POST that does not name its ``needs`` cannot be imported. "" is for changes of the person's own. A
    page with another POST does not inherit it.
    """

    needs: ClassVar[str] = ""

    request: HtmxRequest
    caller: callers.Caller
    now: datetime

    def __init_subclass__(cls, *, is_base: bool = False, **options: object) -> None:
        """Raise `TypeError` for a page whose changes no gate would check. ``is_base``: its subclasses are the pages."""
        super().__init_subclass__(**options)
        for verb in ("put", "patch", "delete"):
            if hasattr(cls, verb):
                raise TypeError(f"{cls.__qualname__} has a {verb}: pages take changes by POST alone")
        namers = [cls] if "post" in vars(cls) and not cls.needs else cls.__mro__
        names_it = any("needs" in vars(base) for base in namers if base is not DashboardView)
        if hasattr(cls, "post") and not names_it and not is_base:
            raise TypeError(f"{cls.__qualname__} has a post, and does not name the action that it needs")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        began = time.monotonic()
        response = self._answer(request, *args, **kwargs)
        if self.is_fragment and time.monotonic() - began > SLOW:
            response["HX-Trigger"] = "live:slow"
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, User):
            return _to_sign_in(self.request)
        role = role_of(user)
        self.now = timezone.now()
        self.caller = sessions.caller_of(request, user, role)
        with timezone.override(preferences.Preferences.of(request).tzinfo):
            if role is None:
                return self.problem(
                    403, "No access", "Your account is not in the group viewer, operator or admin. Ask an admin."
                )
            if request.method == "POST" and request.headers.get("Sec-Fetch-Site") == "cross-site":
                return self.problem(403, "Nothing was changed", "Another site sent this form.")
            try:
                if request.method == "POST" and self.needs:
                    self._pass_the_gate(**kwargs)
                response = super().dispatch(request, *args, **kwargs)
                response["X-As-Of"] = f"{timezone.localtime(self.now):%H:%M:%S}"
                return response
            except errors.MailboxError as refusal:
                if isinstance(refusal, errors.UnknownTaskError) and (
                    last := lookup.end_of(UUID(refusal.ids["task_id"]))
                ):
                    return self._compacted(last)
                status = STATUS.get(type(refusal), HTTPStatus.CONFLICT)
                heading = UNKNOWN.get(type(refusal)) or HEADING.get(HTTPStatus(status), "Nothing was changed")
                return self.problem(status, heading, errors.text_for_person(refusal))

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Explain the address of a button to a person who opens it. Django's own response has no body."""
        allowed = super().http_method_not_allowed(request, *args, **kwargs)["Allow"]
        message = "This address only accepts a form from another page. Nothing was changed."
        response = self.problem(HTTPStatus.METHOD_NOT_ALLOWED, "Not a page", message)
        response["Allow"] = allowed
        return response

    def page(self, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
        """Render a page. Its template knows the action of the page, and what the person may do."""
        may = {name: self.holds(action) for name, action in ACTIONS.items()}
        own = {"needs": self.needs, "allowed": self.holds(self.needs), "may": may}
        return frame.page(self.request, template, {**own, **context}, caller=self.caller, now=self.now, status=status)

    def live(self, template: str, context: dict[str, Any], shown: object, part: str = "rows") -> HttpResponse:
        """Return the page, or to its live region only that ``part``.

        The response is 204 if the region already shows ``shown``.
        """
        version = hashlib.sha256(repr((shown, self.request.GET.get("table"))).encode()).hexdigest()[:16]
        if not self.is_fragment:
            return self.page(template, {**context, "version": version})
        if self.request.headers.get("X-Seen") == version:
            response = HttpResponse(status=204)
        else:
            response = self.page(f"{template}#{part}", {**context, "version": version})
        counts: Attention = context.get("attention") or frame.attention(self.now)
        response["X-Attention"] = json.dumps({"stale": counts["leases"].value, "notes": frame.notes_of(counts)})
        return response

    def done(self, page: str) -> HttpResponse:
        """Redirect to the page where the dialog was opened, or to ``page``."""
        if not self.is_fragment:
            return HttpResponseRedirect(page, status=303)
        came_from = self.request.htmx.current_url or ""
        known = url_has_allowed_host_and_scheme(came_from, {self.request.get_host()})
        return HttpResponse(headers={"HX-Redirect": iri_to_uri(came_from) if known else page})

    def problem(self, status: int, heading: str, message: str) -> HttpResponse:
        """Return a page that explains a problem. Within a dialog, return its panel."""
        template = "ops/problem.html#panel" if self.is_fragment else "ops/problem.html"
        context = {"heading": heading, "message": message, "kept": lost_form.kept(self.request)}
        return self.page(template, context, status=status)

    def gone(self, lease_id: UUID, task_id: UUID | None = None) -> HttpResponse:
        """Return the page for a lease that is deleted or unknown. ``task_id`` is its task, if known."""
        task_id = task_id or lookup.task_of_lease(lease_id)
        return self._compacted(lookup.end_of(task_id) if task_id else None, lease_id)

    def _compacted(self, last: AuditEvent | None, lease_id: UUID | None = None) -> HttpResponse:
        """Return the page for a deleted task, or for its ``lease_id``. ``last`` is the last row of its life."""
        template = "ops/gone.html#panel" if self.is_fragment else "ops/gone.html"
        context = {
            "lease_id": lease_id,
            "last": last and in_words(last),
            "compaction": last and last.task_id and lookup.compaction_of(last.task_id),
        }
        return self.page(template, context, status=410)

    def named(self, token: UUID) -> callers.Caller:
        """Return the caller with the form's token as the request id, which the journal keeps. So a form acts once."""
        return replace(self.caller, request_id=f"form:{token}")

    def holds(self, action: str) -> bool:
        """Whether the person may take ``action``. Pages disable the buttons of other actions."""
        return capabilities.holds(self.caller, action, self.now)

    @cached_property
    def at(self) -> Moment:
        """Return the moment that queries are about, with the age of a stale lease."""
        return Moment(now=self.now, stale_after=thresholds.stale_after())

    @property
    def person(self) -> User:
        """The signed-in person."""
        return cast(User, self.request.user)

    @property
    def is_fragment(self) -> bool:
        """Whether htmx requests a part of the page. A browser requests a whole page."""
        return bool(self.request.htmx)

    def gate_request(self, **where: Any) -> requests.Request:
        """Return the gate's request for a POST to this address. A refusal is journalled with it."""
        return requests.Request.to_post(self.needs, self.request.path)

    def _pass_the_gate(self, **where: Any) -> None:
        if not self.holds(self.needs):
            with audit.decision(self.caller) as journal:
                capabilities.require(self.caller, self.gate_request(**where), journal.now)


def _to_sign_in(request: HtmxRequest) -> HttpResponseBase:
    sign_in = reverse("ops:sign-in")
    if request.method == "POST" and (request.htmx or lost_form.fields_of(request)):
        return lost_form.answer(request)
    if request.htmx:
        here = request.htmx.current_url_abs_path or reverse("ops:overview")
        # A page that refreshes itself shows a link, because a person may be typing on it.
        header = "X-Signed-Out" if sessions.LIVE in request.headers else "HX-Redirect"
        return HttpResponse(status=204, headers={header: f"{sign_in}?{urlencode({'next': here})}"})
    if request.method == "GET":
        return redirect_to_login(request.get_full_path(), sign_in)
    reason = lost_form.kept(request)
    return redirect_to_login(
        lost_form.with_reason(request.path, reason) if reason else reverse("ops:overview"), sign_in
    )


def uuids(name: str, texts: Sequence[str], *, most: int) -> list[UUID]:
    """Return the first ``most`` ids; raise `InvalidRequestError` for another text."""
    try:
        return [UUID(text) for text in texts[:most]]
    except ValueError as error:
        raise errors.InvalidRequestError({name: "isn't an ID"}) from error


def id_in(text: str | None) -> UUID | None:
    """Return the id that the text is; None for another text."""
    try:
        return UUID(text or "")
    except ValueError:
        return None


def number_in(text: str, digits: int = 18) -> int | None:
    """Return the number that the text is, of at most so many digits; None for another text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


def present(value: Value | None) -> Value:
    """Return the value; raise `Http404` for None."""
    if value is None:
        raise Http404
    return value


def choice_of(name: str, value: str | None, choices: Collection[str], default: str = "") -> str:
    """Return the requested member of ``choices``, ``default`` if none is requested; raise `InvalidRequestError`."""
    if not value or value == default:
        return default
    if value not in choices:
        raise errors.InvalidRequestError(
            {name: f'must be one of {", ".join(filter(None, choices))}, not "{value[:50]}"'}
        )
    return value
