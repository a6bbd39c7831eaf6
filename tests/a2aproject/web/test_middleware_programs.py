"""Programs' requests skip the middlewares made for people, and their answers stay the same."""

import json

import pytest
from django.core.handlers import base
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import path as route
from django.utils.module_loading import import_string

from tests.authorisation import routes
from tests.support import factories

OURS = "a2aproject.web.middleware.ProgramsMiddleware"
FOR_ALL = [
    "a2aproject.web.observation.ObservationMiddleware",
    "a2aproject.web.middleware.ProxyMiddleware",
    "a2aproject.web.bodies.UnreadBodyMiddleware",
    "a2aproject.web.middleware.LeadingSlashesMiddleware",
    "mailbox.dialects.base.view.RouteMiddleware",
]
FOR_PEOPLE = [
    "a2aproject.web.middleware.CompressionMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "a2aproject.web.middleware.PeopleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "a2aproject.web.middleware.StrangersMiddleware",
    "a2aproject.web.middleware.AdminMiddleware",
    "a2aproject.web.errors.UnavailableMiddleware",
    "axes.middleware.AxesMiddleware",
]
SERVED = routes.served()
PROBES = {"/healthz", "/readyz", "/metrics"}
STRANGE = [
    "/",
    "/nowhere",
    "/p/",
    "/a2a",
    "/api/",
    "/api/docs",
    "/robots.txt",
    "/ops",
    "//ops/",
    "/A2A/tasks",
]


@pytest.fixture
def ran_for(monkeypatch):
    """Return a function from a path to the middlewares that run for it, outermost first."""
    ran = []

    def stand_in(name):
        def make(get_response):
            def answer(request):
                ran.append(name)
                return get_response(request)

            answer.get_response = get_response  # type: ignore[attr-defined]
            return answer

        return import_string(name) if name == OURS else make

    class Handler(base.BaseHandler):
        def _get_response(self, request):
            return HttpResponse()

    monkeypatch.setattr(base, "import_string", stand_in)
    handler = Handler()
    handler.load_middleware()

    def ran_for(path):
        ran.clear()
        handler._middleware_chain(RequestFactory().get(path))  # type: ignore[attr-defined]
        return list(ran)

    return ran_for


@pytest.mark.parametrize(("path", "kind"), [*SERVED.items(), *((path, "public") for path in STRANGE)])
def test_each_path_has_its_middlewares(ran_for, path, kind):
    is_for_programs = kind == "api" or path in PROBES

    assert ran_for(path) == (FOR_ALL if is_for_programs else FOR_ALL + FOR_PEOPLE)


def asked(client, alice):
    """Yield a request of each kind and its answer, without the headers that differ in each answer."""
    key = factories.key_of(alice)
    with_key, public = {"X-API-Key": key, "X-Request-Id": "same"}, factories.route(alice)
    for method, path, headers in (
        ("get", "/healthz", {}),
        ("post", "/healthz", {}),
        ("get", "/a2a/tasks/next", with_key),
        ("head", "/a2a/tasks/recent", with_key),
        ("options", "/a2a/tasks/recent", with_key),
        ("put", "/a2a/tasks/recent", with_key),
        ("get", "/a2a/tasks/recent", {"X-Request-Id": "same"}),
        ("get", "/a2a/tasks/recent", {**with_key, "Host": "elsewhere.example"}),
        ("get", "/a2a/tasks/recent", {**with_key, "Host": "elsewhere.example:no"}),
        ("get", "/a2a/tasks/recent", {**with_key, "Cookie": f"sessionid={'k' * 32}; csrftoken={'t' * 32}"}),
        ("get", "/a2a/tasks/recent", {**with_key, "HX-Request": "true", "Origin": "http://elsewhere.example"}),
        ("get", "/a2a/tasks/not/there", with_key),
        ("post", "/a2a/tasks/not/there", with_key),
        ("get", "//a2a/tasks/recent", with_key),
        ("get", "/.well-known/agent-card.json", {}),
        ("get", "/.well-known/a2a-agent", with_key),
        ("get", f"{public}/api/agents", {"X-Request-Id": "same"}),
        ("get", f"{public}/a2a/leases", {"X-Request-Id": "same"}),
        ("get", "/audit/recent", with_key),
        ("get", "/capabilities/recent", with_key),
        ("get", "/api/v1/tasks", with_key),
    ):
        for secure in (False, True):
            answer = getattr(client, method)("/", PATH_INFO=path, headers=headers, secure=secure)
            yield (method, path, secure), answer.status_code, sorted(answer.headers.items()), answer.content


@pytest.mark.django_db
def test_the_answers_are_those_of_all_middlewares(settings, alice):
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 0
    through_ours = Client(raise_request_exception=False)
    settings_with = settings.MIDDLEWARE
    short = list(asked(through_ours, alice))
    settings.MIDDLEWARE = [name for name in settings_with if name != OURS]
    whole = list(asked(Client(raise_request_exception=False), alice))

    assert [shown(*one) for one in short] == [shown(*one) for one in whole]
    assert {status for _, status, *_ in short} >= {200, 204, 400, 401, 404, 405}


def shown(request, status, headers, content):
    """Leave out what differs between two equal requests: the path of a public route, the age of a card."""
    method, path, secure = request
    kept = [(name, value) for name, value in headers if name not in ("X-Request-Id", "Last-Modified", "ETag")]
    return (
        method,
        path.rpartition("/")[2],
        secure,
        status,
        kept,
        json.loads(content) if content[:1] == b"{" else content,
    )


@pytest.mark.django_db
def test_a_form_token_is_demanded_of_a_view_for_people_at_a_path_of_programs(settings):
    """The form token is checked beside the view, so the wrong path of a view opens no door."""
    settings.ROOT_URLCONF = __name__
    answer = Client(enforce_csrf_checks=True).post("/a2a/form")

    assert answer.status_code == 403


def form(request):
    return HttpResponse("done")


urlpatterns = [route("a2a/form", form)]
handler403 = "a2aproject.web.errors.permission_denied"
