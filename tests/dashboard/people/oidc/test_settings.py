"""The settings of the sign-in by OpenID Connect, and the extra that they need."""

import os
import re
import subprocess
import sys

import pytest

from a2aproject.errors import UnusableSettingError
from tests.dashboard.people.oidc.provider import CLIENT, SECRET
from tests.dashboard.people.oidc.walk import BACK, START
from tests.support.hub import ROOT
from tests.support.settings import settings_of

pytestmark = pytest.mark.one_database

COMPLETE = {
    "A2A_OIDC_ISSUER": "https://id.example.org",
    "A2A_OIDC_AUTHORIZATION_URL": "https://id.example.org/authorize",
    "A2A_OIDC_TOKEN_URL": "https://id.example.org/token",
    "A2A_OIDC_USERINFO_URL": "https://id.example.org/userinfo",
    "A2A_OIDC_JWKS_URL": "https://id.example.org/jwks",
    "A2A_OIDC_CLIENT_ID": CLIENT,
    "A2A_OIDC_CLIENT_SECRET": SECRET,
}


ROUTES = """
import django
django.setup()
from django.urls import reverse
print(reverse("oidc-sign-in"), reverse("oidc-callback"))
"""


@pytest.fixture
def without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mozilla_django_oidc", None)


@pytest.mark.processes
def test_a_complete_provider_brings_the_routes(tmp_path):
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "a2aproject.settings"}
    command = [sys.executable, "-c", ROUTES]

    assert subprocess.check_output(command, cwd=ROOT, env=env | COMPLETE, text=True) == f"{START} {BACK}\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (COMPLETE | {"A2A_OIDC_JWKS_URL": ""}, "A2A_OIDC_ISSUER needs A2A_OIDC_JWKS_URL too."),
        ({"A2A_OIDC_ROLES": "ops=king"}, "A2A_OIDC_ROLES must list GROUP=ROLE"),
        (COMPLETE | {"A2A_OIDC_CREATE_PEOPLE": "1"}, "A2A_OIDC_CREATE_PEOPLE needs A2A_OIDC_ROLES"),
    ],
)
def test_settings_that_are_not_whole_stop_the_hub(tmp_path, given, message):
    with pytest.raises(UnusableSettingError, match=re.escape(message)):
        settings_of(A2A_VAR=str(tmp_path), **given)


@pytest.mark.usefixtures("without_the_extra")
def test_a_hub_with_a_provider_needs_the_extra(tmp_path):
    with pytest.raises(UnusableSettingError, match="needs the packages of the extra oidc: run `make extras`"):
        settings_of(A2A_VAR=str(tmp_path), **COMPLETE)


@pytest.mark.usefixtures("without_the_extra")
def test_a_hub_without_a_provider_needs_no_extra(tmp_path):
    assert settings_of(A2A_VAR=str(tmp_path)).A2A_OIDC_ISSUER == ""
