"""The settings of the sign-in by OpenID Connect, and the extra that they need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.dashboard.oidc.provider import CLIENT, SECRET
from tests.dashboard.oidc.walk import BACK, START
from tests.support.hub import ROOT

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

COMPLETE = {
    "A2A_OIDC_ISSUER": "https://id.example.org",
    "A2A_OIDC_AUTHORIZATION_URL": "https://id.example.org/authorize",
    "A2A_OIDC_TOKEN_URL": "https://id.example.org/token",
    "A2A_OIDC_USERINFO_URL": "https://id.example.org/userinfo",
    "A2A_OIDC_JWKS_URL": "https://id.example.org/jwks",
    "A2A_OIDC_CLIENT_ID": CLIENT,
    "A2A_OIDC_CLIENT_SECRET": SECRET,
}


def started(tmp_path, code, **environment):
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "a2aproject.settings"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env | environment, capture_output=True, text=True, check=False
    )


ROUTES = """
import django
django.setup()
from django.urls import reverse
print(reverse("oidc-sign-in"), reverse("oidc-callback"))
"""
LACKING = "import sys; sys.modules['mozilla_django_oidc'] = None; from a2aproject import settings"


def test_a_complete_provider_brings_the_routes(tmp_path):
    assert started(tmp_path, ROUTES, **COMPLETE).stdout == f"{START} {BACK}\n"


@pytest.mark.parametrize(
    ("code", "given", "message"),
    [
        (LACKING, COMPLETE, "A2A_OIDC_ISSUER needs the packages of the extra oidc: run `make extras`."),
        (ROUTES, COMPLETE | {"A2A_OIDC_JWKS_URL": ""}, "A2A_OIDC_ISSUER needs A2A_OIDC_JWKS_URL too."),
        (ROUTES, {"A2A_OIDC_ROLES": "ops=king"}, "A2A_OIDC_ROLES must list GROUP=ROLE"),
        (ROUTES, COMPLETE | {"A2A_OIDC_CREATE_PEOPLE": "1"}, "A2A_OIDC_CREATE_PEOPLE needs A2A_OIDC_ROLES"),
    ],
)
def test_settings_that_are_not_whole_stop_the_hub(tmp_path, code, given, message):
    assert message in started(tmp_path, code, **given).stderr


def test_a_hub_without_a_provider_needs_no_extra(tmp_path):
    assert started(tmp_path, LACKING).returncode == 0
