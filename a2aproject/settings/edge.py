"""Settings of the hub's edge: connections, cookies, static files, the official A2A protocol and the OpenAPI document.

All times are in milliseconds. `make serve` and `make site` collect the static files under hashed names, which browsers
may keep for years, and compressed. Where they are not collected, the web processes serve them from the packages.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import env

# The address where the hub listens, and the public URL that people and agents use.
BIND_HOST = env.str("BIND_HOST", "127.0.0.1")
PORT = env.integer("PORT", 3000, least=0, most=65_535)  # 0: the system chooses one for `serve`
_everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (an operator's choice)
_host = _everywhere.get(BIND_HOST, BIND_HOST)


def own_url(port: int) -> str:
    """Return the URL of the hub on this machine."""
    return f"http://[{_host}]:{port}" if ":" in _host else f"http://{_host}:{port}"


PUBLIC_URL = env.address("PUBLIC_URL") or own_url(PORT)

_public = urlsplit(PUBLIC_URL)
_is_https = _public.scheme == "https"
ALLOWED_HOSTS = list(
    dict.fromkeys(
        [_public.hostname or "", BIND_HOST, "localhost", "127.0.0.1", "[::1]", *env.list("ALLOWED_HOSTS", default=[])]
    )
)
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]

# The largest request body. The hub reads and parses bodies whole, so this has an upper bound (a2a.E007).
A2A_MAX_BODY_BYTES = env.int("A2A_MAX_BODY_BYTES", 1_048_576)
DATA_UPLOAD_MAX_MEMORY_SIZE = A2A_MAX_BODY_BYTES

# Seconds in which the body of a request must arrive. A slower connection is cut, so that it holds a thread no longer.
A2A_BODY_TIMEOUT_S = env.integer("A2A_BODY_TIMEOUT_S", 30, least=1, most=60)

# The longest time for which the hub holds a waiting request. Many proxies cut a silent connection after 60 seconds.
A2A_LONGEST_WAIT_MS = env.integer("A2A_LONGEST_WAIT_MS", 50_000, least=0, most=600_000)

# Networks of proxies whose X-Forwarded-For and X-Forwarded-Proto count. A hub at an https URL has one, mostly on its
# own machine. Every program at these addresses counts as a proxy, unless proxies add a secret.
A2A_TRUSTED_PROXIES = env.networks("A2A_TRUSTED_PROXIES", ["127.0.0.0/8", "::1/128"] if _is_https else [])
A2A_PROXY_SECRET: str = env.str("A2A_PROXY_SECRET", "")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if A2A_TRUSTED_PROXIES else None

# The header in which trusted proxies pass on a client's certificate; "" for none. Then its name in a request's environ.
A2A_CLIENT_CERT_HEADER: str = env.str("A2A_CLIENT_CERT_HEADER", "")
if A2A_CLIENT_CERT_HEADER and not (A2A_PROXY_SECRET or env.seen["A2A_TRUSTED_PROXIES"].is_set):
    raise UnusableSettingError(
        "A2A_CLIENT_CERT_HEADER needs A2A_PROXY_SECRET or A2A_TRUSTED_PROXIES: without the secret, each program at a "
        "trusted address can claim any certificate."
    )
A2A_CLIENT_CERT_META = f"HTTP_{A2A_CLIENT_CERT_HEADER.upper().replace('-', '_')}" if A2A_CLIENT_CERT_HEADER else ""

SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.switch("A2A_HSTS_SUBDOMAINS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
# Browsers take a cookie named __Host- from this host alone, and over https alone. No sister host can plant one.
SESSION_COOKIE_NAME = "__Host-sessionid" if _is_https else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if _is_https else "csrftoken"


# How long a SendMessage may wait for the answer. Then it is answered with the task as it is.
A2A_BLOCKING_WAIT_MS = env.integer("A2A_BLOCKING_WAIT_MS", 300_000, least=0, most=86_400_000)
# How long a stream may last. Its client then subscribes again.
A2A_STREAM_LIMIT_MS = env.integer("A2A_STREAM_LIMIT_MS", 3_600_000, least=1, most=86_400_000)
# The pause between signs of life on a silent answer. Stock clients give up after 5 seconds of silence.
A2A_KEEPALIVE_MS = env.integer("A2A_KEEPALIVE_MS", 2_000, least=10, most=60_000)
# How long the first event of a stream may wait for the holder's first word, which may be the whole answer.
A2A_FIRST_WORD_MS = env.integer("A2A_FIRST_WORD_MS", 1_000, least=0, most=60_000)
# Origins whose pages may call the protocol from a browser. Cards answer any origin.
A2A_CORS_ORIGINS = env.list("A2A_CORS_ORIGINS", default=[])


COLLECTED = "whitenoise.storage.CompressedManifestStaticFilesStorage"
OWN = "dashboard/static/ops"
PACKAGES = "requirements/base.txt"


def static_files(base: Path, collected: Path) -> dict[str, Any]:
    """Return the settings for the project in the folder ``base``, with the files of ``collected`` if they are usable.

    They are used only if no file of the dashboard is newer, and the list of packages is not newer either.
    """
    manifest = collected / "staticfiles.json"
    is_collected = manifest.exists() and manifest.stat().st_mtime >= max(
        file.stat().st_mtime for file in [base / PACKAGES, *(base / OWN).iterdir()]
    )
    storage = COLLECTED if is_collected else "django.contrib.staticfiles.storage.StaticFilesStorage"
    return {
        "STATIC_ROOT": collected if is_collected else None,
        "STORAGES": {
            "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
            "staticfiles": {"BACKEND": storage},
        },
        "WHITENOISE_USE_FINDERS": not is_collected,
        "WHITENOISE_KEEP_ONLY_HASHED_FILES": True,
    }


DESCRIPTION = """
A durable mailbox through which agents hand each other tasks and get their results.

Requests and answers are JSON in UTF-8. Send an API key as `Authorization: Bearer <key>`. An error is
`{"kind": "error", "code", "message"}` with the ids that it concerns: decide by `code`, since `message` is for people.
Lists take `limit` and `cursor`, and answer with `next_cursor`, null on the last page. Fields that end in `_at_ms`,
`deadline_ms` and `expires_at` are points in time, in Unix epoch milliseconds; other fields in `_ms` are durations.
"""

# In the order in which a reader needs them.
TAGS = {
    "tasks": "Send tasks, lease the tasks that are addressed to you, and list them.",
    "one task": "Read one task, talk about it, and work on it under its lease.",
    "results": "Post results, drain the results of your tasks, and acknowledge them.",
    "queue": "Read what is queued, leased and pending.",
    "agents": "Register agents, pause them, and read their quotas, signing keys and peers.",
    "access": "API keys, people, and public routes for clients without a key.",
    "capabilities": "Grant agents what they may do, and revoke it.",
    "repair": "Requeue leased tasks or end them, and delete finished tasks.",
    "replay": "Cached results, which answer duplicates of idempotent work.",
    "callbacks": "The hub's posts to the callback URLs of tasks.",
    "audit": "The journal of all decisions, and the proof that it is unchanged.",
    "A2A cards": "The cards of agents in the official A2A protocol, and the keys that sign them.",
    "A2A by HTTP+JSON": "The official A2A protocol 1.0 by HTTP and JSON, for each agent.",
    "A2A by JSON-RPC": "The official A2A protocol, 1.0 and 0.3, by JSON-RPC.",
    "MCP": "Tools and resources for language models, by the Model Context Protocol.",
    "tasks/send": "The protocol of corvid-agent: send a task, and poll it.",
    "agents of tasks/send": "Agents with profiles, as corvid-agent's clients read them.",
    "inboxes": "Marianne's inboxes: each agent has one.",
    "job cards": "Marianne's registry of the cards of running jobs.",
    "YEOMAN": "The messages of YEOMAN's peers.",
    "YEOMAN tasks": "Agnostic's task API.",
}


def spectacular_settings(version: str) -> dict[str, Any]:
    """Return the settings of drf-spectacular, for this version of the hub."""
    return {
        "TITLE": "A2A Hub",
        "DESCRIPTION": DESCRIPTION.strip(),
        "VERSION": version,
        "LICENSE": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        "SERVERS": [{"url": PUBLIC_URL, "description": "This hub"}],
        "TAGS": [{"name": name, "description": text} for name, text in TAGS.items()],
        "POSTPROCESSING_HOOKS": ["mailbox.dialects.base.document.finish"],
        "COMPONENT_SPLIT_PATCH": False,
        "PATH_CONVERTER_OVERRIDES": {"id": {"type": "string", "format": "uuid"}, "text": {"type": "string"}},
        "OAS_VERSION": "3.1.0",  # its schemas are JSON Schema, as pydantic writes them
        "APPEND_COMPONENTS": {"securitySchemes": SECURITY_SCHEMES},
        "SECURITY": [{name: []} for name in SECURITY_SCHEMES],
        "AUTHENTICATION_WHITELIST": [],  # of classes that the document describes: SECURITY is the same for all routes
        "SERVE_INCLUDE_SCHEMA": False,
        "SWAGGER_UI_DIST": "SIDECAR",
        "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
        "REDOC_DIST": "SIDECAR",
    }


SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The API key of an agent or a person."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The API key."},
    "basic": {"type": "http", "scheme": "basic", "description": "The API key is the password."},
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "Signature",
        "description": "An RFC 9421 signature with Signature-Input, by the agent's Ed25519 key.",
    },
}
