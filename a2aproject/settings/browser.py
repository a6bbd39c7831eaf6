"""Settings of the pages for people: how they sign in, and which files their browsers may load.

Operators cannot change these settings.
"""

from __future__ import annotations

from datetime import timedelta

from csp.constants import NONE, SELF

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
AXES_CLIENT_IP_CALLABLE = "dashboard.base.passwords.address_of"
AXES_LOCKOUT_CALLABLE = "dashboard.views.session.locked_out"

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
