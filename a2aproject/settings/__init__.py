"""Settings of the hub. Only these modules read the environment variables by which operators set the hub up."""

import tomllib
from pathlib import Path
from typing import Any

from django.utils.log import CallbackFilter

from a2aproject.settings.database import database, earlier_secrets, opened, opened_seal_key, sqlite_file
from a2aproject.settings.edge import *  # noqa: F403 (settings, all of them)
from a2aproject.settings.edge import PUBLIC_URL, spectacular_settings, static_files
from a2aproject.settings.environment import env, is_pooled, pool_size, web_workers
from a2aproject.settings.operating import *  # noqa: F403 (settings, all of them)
from a2aproject.settings.operating import LOG_FORMAT
from a2aproject.settings.people import *  # noqa: F403 (settings, all of them)
from a2aproject.settings.people import A2A_OIDC_ISSUER

A2A_ENVIRONMENT_READ = env.seen  # by variable, for the page that lists the settings

BASE_DIR = Path(__file__).resolve().parent.parent.parent
A2A_VAR = BASE_DIR / env.str("A2A_VAR", "var")
A2A_SITE = BASE_DIR / "site" / "html"  # the documentation, if it is built
A2A_STATIC = BASE_DIR / "site" / "static"  # the static files, if they are collected

DEBUG = False

A2A_VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

# The hub's own agent card. The cards of its agents are public too, unless A2A_PUBLIC_AGENT_CARDS is off.
A2A_HUB_NAME = env.str("A2A_HUB_NAME", "A2A Hub")
A2A_HUB_DESCRIPTION = env.str(
    "A2A_HUB_DESCRIPTION", "A durable mailbox through which agents hand each other tasks and get their results"
)
A2A_ENVIRONMENT = env.str("A2A_ENVIRONMENT", "")  # shown to people, so that they repair the right hub
A2A_PROVIDER_ORG = env.str("A2A_PROVIDER_ORG", "") or A2A_HUB_NAME
A2A_PROVIDER_URL = env.str("A2A_PROVIDER_URL", "") or PUBLIC_URL
A2A_DOCS_URL = env.str("A2A_DOCS_URL", "") or f"{PUBLIC_URL}/api/docs/"
A2A_PUBLIC_AGENT_CARDS = env.switch("A2A_PUBLIC_AGENT_CARDS", default=True)

WEB_WORKERS = web_workers(env)
DATABASE_POOLED = is_pooled(env)
DATABASE_POOL_SIZE = pool_size(env)  # PostgreSQL connections of one web process, beside those of its bell
STOP_GRACE = env.integer("STOP_GRACE", 15, least=1, most=3600)  # seconds
# Threads of one worker, started when needed. Each waiting request holds a thread.
WEB_THREADS = env.integer("WEB_THREADS", 1024, least=1, most=65_536)
# How a waiting request learns of a task or a result: auto rings between the processes, poll looks again and again.
# A session that a pooler lends for a transaction hears no notification.
A2A_WAKE_UPS = env.word("A2A_WAKE_UPS", *(("poll", "POLL") if DATABASE_POOLED else ("auto", "AUTO", "POLL"))).lower()

INSTALLED_APPS = [
    "mailbox.apps.MailboxConfig",
    "agentcards.apps.AgentCardsConfig",
    "dashboard.apps.DashboardConfig",
    "django_q",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "a2aproject.apps.A2AProjectConfig",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "axes",
    "csp",
    "django_htmx",
    "template_partials",
    "a2aproject.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "a2aproject.web.observation.ObservationMiddleware",  # first: it measures all that follows
    "a2aproject.web.middleware.ProxyMiddleware",  # second: all code after it sees the client's own address
    "a2aproject.web.bodies.UnreadBodyMiddleware",
    "a2aproject.web.middleware.LeadingSlashesMiddleware",  # before the next, which looks for a token at the start
    "mailbox.dialects.base.view.RouteMiddleware",  # first to read the path: hides the token of a public route
    "a2aproject.web.middleware.ProgramsMiddleware",  # programs' requests skip all the following middlewares
    "a2aproject.web.middleware.CompressionMiddleware",  # outside all that writes a page
    "django_htmx.middleware.HtmxMiddleware",  # before every middleware that may answer with a page
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
    "a2aproject.web.middleware.StrangersMiddleware",  # behind all that knows the person, and adds headers to its page
    "a2aproject.web.middleware.AdminMiddleware",
    "a2aproject.web.errors.UnavailableMiddleware",
    "axes.middleware.AxesMiddleware",
]

if A2A_OIDC_ISSUER:
    AUTHENTICATION_BACKENDS = [*AUTHENTICATION_BACKENDS, "dashboard.people.oidc.Backend"]  # noqa: F405 (of the browser)

ROOT_URLCONF = "a2aproject.urls"
WSGI_APPLICATION = "a2aproject.wsgi.application"
APPEND_SLASH = False

_LOADERS = ["a2aproject.web.templates.Loader", "django.template.loaders.app_directories.Loader"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": ["dashboard.templatetags.routes"],
            "loaders": [("template_partials.loader.Loader", [("django.template.loaders.cached.Loader", _LOADERS)])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": database(env, A2A_VAR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Scheduler of the automatic retry, as raw text by name. The scheduler parses it; a system check reports bad values.
# Covenant's spelling of each name works too.
_AUTO_RETRY_DEFAULTS = {
    "SCHEDULER": "0",
    "INTERVAL_MS": "60000",
    "MIN_LEASE_AGE_MS": "300000",
    "MAX_ATTEMPTS": "3",
    "MAX_REQUEUES": "1",
    "SCAN_LIMIT": "100",
}
A2A_AUTO_RETRY = {
    name: env.str(f"A2A_AUTO_RETRY_{name}", env.str(f"COVENANT_A2A_AUTO_RETRY_{name}", default))
    for name, default in _AUTO_RETRY_DEFAULTS.items()
}

# The pages of tasks and results hide the values of JSON fields with these names.
A2A_REDACTED_FIELDS = env.list(
    "A2A_REDACTED_FIELDS",
    default=[
        *("authorization", "cookie", "password", "passwd", "secret", "token", "api_key", "access_token"),
        *("refresh_token", "client_secret", "private_key", "credential", "credentials"),
    ],
)

# With ROUTE_BY_SKILL on, an agent with the requested skill precedes the first agent with a default project.
A2A_TASKS_SEND_ROUTE_BY_SKILL = env.switch("A2A_TASKS_SEND_ROUTE_BY_SKILL", default=False)

# YEOMAN: when a silent peer counts as suspect, then as offline.
# The capabilities are the skills of the hub's agents with DYNAMIC on, and a fixed list.
A2A_PEER_SUSPECT_AFTER = env.span("A2A_PEER_SUSPECT_AFTER_MS", 30_000, least=1)
A2A_PEER_OFFLINE_AFTER = env.span("A2A_PEER_OFFLINE_AFTER_MS", 90_000, least=1)
A2A_CAPABILITIES = env.records("A2A_CAPABILITIES", [], "name", "description", "version")
A2A_CAPABILITIES_DYNAMIC = env.switch("A2A_CAPABILITIES_DYNAMIC", default=True)

# Host names, addresses and networks that the hub may call although they are private: for development, and for remote
# agents on a private network. A remote agent gets at most A2A_REMOTE_CONCURRENCY tasks at once.
A2A_OUTBOUND_ALLOW = env.list("A2A_OUTBOUND_ALLOW", default=[])
A2A_REMOTE_CONCURRENCY = env.int("A2A_REMOTE_CONCURRENCY", 4)

STATIC_URL = "/static/"
WHITENOISE_AUTOREFRESH = False
globals().update(static_files(BASE_DIR, A2A_STATIC))

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_REFERRER_POLICY = "same-origin"
# The API accepts keys, not sessions. Each dialect has its own authentication and errors.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "mailbox.dialects.base.openapi.RouteSchema",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}

SPECTACULAR_SETTINGS = spectacular_settings(A2A_VERSION)

# Django-q2 keeps the timetable and the results, and the hub runs the jobs. A job that outlives `retry` would start a
# second time beside the first, hence timeout < retry (a2a.E006).
Q_CLUSTER: dict[str, Any] = {
    "name": "a2a",
    "label": "Background jobs",
    "orm": "default",
    "timeout": 300,
    "retry": 360,
    "catch_up": False,
    "save_limit": 100,
    "save_limit_per": "func",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "a2aproject.web.log.JSONFormatter"},
    },
    "filters": {
        "redacted": {"()": "mailbox.words.redaction.RedactSecrets"},
        "refusals": {"()": CallbackFilter, "callback": lambda record: getattr(record, "status_code", 0) != 503},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["redacted"]}},
    "root": {
        "handlers": ["stderr"],
        "level": env.word("LOG_LEVEL", "WARNING", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    },
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET", "propagate": True},
        # Errors of clients are answered, not logged. Many 503s have one cause, which is in the log once.
        "django.request": {"level": "ERROR", "filters": ["refusals"]},
        "django.security": {"level": "CRITICAL"},
        "django.server": {"handlers": [], "propagate": True},
        "a2aproject.requests": {"level": "INFO" if LOG_FORMAT == "json" else "CRITICAL"},
    },
}

# The last step, so that an invalid setting above creates no file. The mailbox's command line never creates a hub: it
# reports that there is none.
_makes = not env.switch("A2A_IS_COMMAND_LINE", default=False)
_file = sqlite_file(DATABASES["default"])
SECRET_KEY = opened(A2A_VAR, _file, configured=env.str("SECRET_KEY", ""), make=_makes)
SECRET_KEY_FALLBACKS = earlier_secrets(A2A_VAR, env.list("SECRET_KEY_FALLBACKS", default=[]))
A2A_SEAL_KEY = opened_seal_key(A2A_VAR, _file, configured=env.str("A2A_SEAL_KEY", ""), make=_makes)
