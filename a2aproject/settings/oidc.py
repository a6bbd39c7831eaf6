"""Settings of the sign-in of people by OpenID Connect. Without an issuer there is none."""

from __future__ import annotations

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import env
from a2aproject.settings.extras import require

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
