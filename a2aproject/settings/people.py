"""Settings of people: sessions, second factors, sign-in by OpenID Connect, their pages, and the keys that open the hub.

Without an issuer there is no sign-in by OpenID Connect. Operators cannot change the settings of the pages: how people
sign in, and which files their browsers may load.
"""

from datetime import timedelta

from csp.constants import NONE, SELF

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import env, require

DAY_MS = 86_400_000

# A session ends after so much time without a page or a form of its person, and at the latest so long after the sign-in.
A2A_SESSION_IDLE = env.span("A2A_SESSION_IDLE_MS", 3_600_000, least=60_000, most=30 * DAY_MS)
A2A_SESSION_LIMIT = env.span("A2A_SESSION_LIMIT_MS", 43_200_000, least=60_000, most=30 * DAY_MS)
# People who need a second factor: those without one are led to its page first. API keys need none.
A2A_REQUIRE_SECOND_FACTOR = env.word("A2A_REQUIRE_SECOND_FACTOR", "off", "OFF", "ADMINS", "EVERYONE").lower()

SESSION_COOKIE_AGE = A2A_SESSION_LIMIT // timedelta(seconds=1)


# The longest life of a new API key (0: no limit). The successor of a rotated key starts a new life.
A2A_KEY_MAX_AGE: timedelta = env.span("A2A_KEY_MAX_AGE_MS", 0, least=0)


_ROLES = ("viewer", "operator", "admin")

# The provider: the `iss` of its tokens, and its endpoints.
A2A_OIDC_ISSUER: str = env.str("A2A_OIDC_ISSUER", "")
OIDC_OP_AUTHORIZATION_ENDPOINT = env.address("A2A_OIDC_AUTHORIZATION_URL")
OIDC_OP_TOKEN_ENDPOINT = env.address("A2A_OIDC_TOKEN_URL")
OIDC_OP_USER_ENDPOINT = env.address("A2A_OIDC_USERINFO_URL")
OIDC_OP_JWKS_ENDPOINT = env.address("A2A_OIDC_JWKS_URL")
# The hub as its client.
OIDC_RP_CLIENT_ID: str = env.str("A2A_OIDC_CLIENT_ID", "")
OIDC_RP_CLIENT_SECRET: str = env.str("A2A_OIDC_CLIENT_SECRET", "")
OIDC_RP_SCOPES: str = env.str("A2A_OIDC_SCOPES", "openid email")
OIDC_RP_SIGN_ALGO = env.word("A2A_OIDC_ALGORITHM", "RS256", "RS256", "ES256")
OIDC_AUTHENTICATION_CALLBACK_URL = "oidc-callback"
OIDC_USE_PKCE = True
OIDC_MAX_STATES = 4  # sign-ins that a browser has begun: its cookie holds them
OIDC_TIMEOUT = 10  # seconds for each call of the provider
# The people: the name of the provider on the button, the claim with their groups there, and the role of each group.
A2A_OIDC_NAME = env.str("A2A_OIDC_NAME", "OpenID Connect")
A2A_OIDC_ROLES_CLAIM = env.str("A2A_OIDC_ROLES_CLAIM", "groups")
A2A_OIDC_ROLES: dict[str, str] = env.dict("A2A_OIDC_ROLES", default={})
OIDC_CREATE_USER = env.switch("A2A_OIDC_CREATE_PEOPLE", default=False)

if not set(A2A_OIDC_ROLES.values()) <= set(_ROLES):
    raise UnusableSettingError(
        f"A2A_OIDC_ROLES must list GROUP=ROLE, separated by commas; roles are {', '.join(_ROLES)}."
    )
if A2A_OIDC_ISSUER:
    require("A2A_OIDC_ISSUER", "oidc", "mozilla_django_oidc")
    _needed = {
        "A2A_OIDC_AUTHORIZATION_URL": OIDC_OP_AUTHORIZATION_ENDPOINT,
        "A2A_OIDC_TOKEN_URL": OIDC_OP_TOKEN_ENDPOINT,
        "A2A_OIDC_USERINFO_URL": OIDC_OP_USER_ENDPOINT,
        "A2A_OIDC_JWKS_URL": OIDC_OP_JWKS_ENDPOINT,
        "A2A_OIDC_CLIENT_ID": OIDC_RP_CLIENT_ID,
        "A2A_OIDC_CLIENT_SECRET": OIDC_RP_CLIENT_SECRET,
    }
    if missing := [name for name, value in _needed.items() if not value]:
        raise UnusableSettingError(f"A2A_OIDC_ISSUER needs {', '.join(missing)} too.")
    if OIDC_CREATE_USER and not A2A_OIDC_ROLES:
        raise UnusableSettingError("A2A_OIDC_CREATE_PEOPLE needs A2A_OIDC_ROLES: a person without a role sees nothing.")


# Pages load scripts and styles from this hub only, and never inline. The page of the API reference has its own policy.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# People sign in with a password, on pages for people only. Failed attempts lock one name from one address for a
# while. The operator with that name can still sign in from other addresses.
LOGIN_URL = "ops:sign-in"
LOGIN_REDIRECT_URL = "ops:overview"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "dashboard.base.sessions.address_of"
AXES_LOCKOUT_CALLABLE = "dashboard.people.sign_in.locked_out"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "a2aproject.web.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"

# Formats of dates in the admin. The dashboard shows times in each person's own zone.
FORMAT_MODULE_PATH = "a2aproject.formats"
