import pytest
from django.contrib.auth.models import User

from mailbox.access.callers import Role
from mailbox.access.people import sign_ins
from tests.dashboard.people.oidc import urls
from tests.dashboard.people.oidc.provider import CLIENT, SECRET, running
from tests.support import factories


@pytest.fixture
def provider(settings):
    """A provider that the hub knows."""
    sign_ins.forget()
    settings.ROOT_URLCONF = urls.__name__
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, "dashboard.people.oidc.Backend"]
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, SECRET
    settings.A2A_OIDC_NAME = "Example"
    with running() as provider:
        settings.A2A_OIDC_ISSUER = provider.url
        settings.OIDC_OP_AUTHORIZATION_ENDPOINT = f"{provider.url}/authorize"
        settings.OIDC_OP_TOKEN_ENDPOINT = f"{provider.url}/token"
        settings.OIDC_OP_USER_ENDPOINT = f"{provider.url}/userinfo"
        settings.OIDC_OP_JWKS_ENDPOINT = f"{provider.url}/jwks"
        yield provider


@pytest.fixture
def ana():
    factories.person("ana", Role.OPERATOR)
    User.objects.filter(username="ana").update(email="Ana@example.org")
    return User.objects.get(username="ana")
