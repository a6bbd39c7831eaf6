"""The sign-in with its second step, and the sign-out."""

import time
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views import View

from dashboard.base import frame, page, sessions
from dashboard.people import proof
from mailbox.access.people import passwords, second_factor, sign_ins

PENDING = "second_step"  # in a session that is not signed in: whose password was right, and where they go
LASTS = 300  # seconds
BACKEND = "django.contrib.auth.backends.ModelBackend"


def begin_second_step(request: HttpRequest, person: User, after: str) -> HttpResponse:
    """Note that the person's password was right, and redirect to the page that asks for a code."""
    request.session.cycle_key()
    known = {"pk": person.pk, "hash": person.get_session_auth_hash(), "at": int(time.time()), "after": after}
    request.session[PENDING] = known
    return HttpResponseRedirect(reverse("ops:second-step"))


class SecondStep(View):
    """The second step of the sign-in of a person with a second factor."""

    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show() if self._person() else self._from_the_start()

    def post(self, request: HttpRequest) -> HttpResponse:
        person = self._person()
        if person is None:
            return self._from_the_start()
        if problem := proof.code_problem(request, person, request.POST.get("code", "")):
            return self._show(problem)
        after = request.session.pop(PENDING)["after"]
        login(request, person, backend=BACKEND)
        request.session[sessions.SECOND_FACTOR] = True
        sign_ins.signed_in(person.username, sessions.address_of(request))
        return HttpResponseRedirect(after)

    def _person(self) -> User | None:
        """Return the person whose password was right a short time ago and is still theirs; None for no person."""
        pending: dict[str, Any] = self.request.session.get(PENDING, {})
        if not pending or time.time() - pending["at"] > LASTS:
            return None
        person = sign_ins.active(pending["pk"])
        return person if person and person.get_session_auth_hash() == pending["hash"] else None

    def _from_the_start(self) -> HttpResponse:
        return HttpResponseRedirect(reverse("ops:sign-in"))

    def _show(self, problem: str = "") -> HttpResponse:
        context = {**frame.look(self.request), "problem": problem}
        status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
        return render(self.request, "ops/second_step.html", context, status=status)


class SignInForm(AuthenticationForm):
    """A name and a password, which are checked within the hub's bounds."""

    def clean(self) -> dict[str, Any]:
        """Check the password. Raises `NotYetError` if it is not checked now."""
        username, password = (self.cleaned_data.get(name) for name in ("username", "password"))
        if username is not None and password and self.request is not None:
            user = proof.person_with(self.request, username, password)
            if user is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(user)
            self.user_cache = user
        return self.cleaned_data


class SignIn(auth_views.LoginView):
    """The one sign-in, of the dashboard and of Django's admin. Django-axes slows down the guessing of passwords."""

    template_name = "ops/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
    http_method_names = ["get", "head", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Refuse a signed-in person whom Django's admin sent here: a second sign-in would change nothing."""
        user = request.user
        if isinstance(user, User) and not user.is_staff and self.get_redirect_url().startswith(reverse("admin:index")):
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign in; or return the form with the name but without the password, and say when to send it."""
        try:
            return super().post(request, *args, **kwargs)
        except passwords.NotYetError as later:
            form = self.authentication_form(request, initial={"username": request.POST.get("username", "")})
            return proof.postponed(self.render_to_response(self.get_context_data(form=form, later=later)), later)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if second_factor.of_person(form.get_user()):
            return begin_second_step(self.request, form.get_user(), self.get_success_url())
        response = super().form_valid(form)
        sign_ins.signed_in(form.get_user().get_username(), sessions.address_of(self.request))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        provider = settings.A2A_OIDC_NAME if settings.A2A_OIDC_ISSUER else ""
        own = {"provider": provider} | {f"is_{why}": why in self.request.GET for why in ("refused", "failed")}
        return {**super().get_context_data(**kwargs), **frame.look(self.request), **own}


class SignOut(auth_views.LogoutView):
    """The sign-out. Only its button signs out, because otherwise any link could. A GET redirects to the sign-in."""

    next_page = "ops:sign-in"
    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return auth_views.redirect_to_login(reverse("ops:overview"), reverse("ops:sign-in"))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        username = request.user.get_username()
        response = super().post(request, *args, **kwargs)
        if username:
            sign_ins.signed_out(username, sessions.address_of(request), "person")
        return response


class Favicon(View):
    """The icon of the hub, with the number of stale leases if there are any."""

    def get(self, request: HttpRequest) -> HttpResponse:
        stale = page.number_in(request.GET.get("stale", ""), 8) or 0
        response = render(request, "ops/favicon.svg", {"stale": min(stale, 99)}, content_type="image/svg+xml")
        response["Cache-Control"] = "public, max-age=3600"
        return response


def locked_out(request: HttpRequest, response: object = None, credentials: object = None) -> HttpResponse:
    """Return the page for a person whom django-axes has locked out."""
    response = render(request, "ops/locked_out.html", frame.look(request), status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(settings.AXES_COOLOFF_TIME // timedelta(seconds=1))
    return response
