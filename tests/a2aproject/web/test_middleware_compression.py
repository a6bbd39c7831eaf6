"""Pages for people are compressed. Static files have long-lived, hashed names where they are collected."""

import gzip
import os
import re

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.management import call_command
from django.templatetags.static import static
from django.test import Client

from a2aproject.settings.edge import COLLECTED, static_files
from mailbox.access.callers import Role
from tests.support import factories

GZIP = {"Accept-Encoding": "gzip"}
OTHERS = ["admin", "drf_spectacular_sidecar", "rest_framework", "otp_totp", "django_otp"]


@pytest.fixture
def collected(settings, tmp_path):
    """The dashboard's static files, collected into a folder of the test."""
    settings.STATIC_ROOT = settings.A2A_STATIC = tmp_path
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": COLLECTED}}
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = False
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=OTHERS)
    return tmp_path


@pytest.fixture
def project(tmp_path):
    """A project with a style sheet and with collected files. Return its folder."""
    for name in ("dashboard/static/ops/ops.css", "requirements/base.txt", "site/static/staticfiles.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    return tmp_path


def used(project):
    return static_files(project, project / "site" / "static")


@pytest.mark.parametrize("path", ["/ops/sign-in/", "/api/schema/?format=json", "/ops/nowhere/"])
@pytest.mark.django_db
def test_a_page_is_compressed_and_decompresses_to_the_same_page(path):
    plain, compressed = Client().get(path), Client().get(path, headers=GZIP)

    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert "Content-Encoding" not in plain
    assert len(gzip.decompress(compressed.content)) == len(plain.content)
    assert len(compressed.content) < len(plain.content)


@pytest.mark.django_db
def test_two_answers_with_the_same_page_differ_in_length():
    lengths = {len(Client().get("/ops/sign-in/", headers=GZIP).content) for _ in range(20)}

    assert len(lengths) > 1


@pytest.mark.django_db
def test_the_token_of_a_form_is_written_anew_in_each_answer_and_the_session_in_none():
    factories.person("ana", Role.OPERATOR)
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="ana"), backend="django.contrib.auth.backends.ModelBackend")
    pages = [client.get("/ops/settings/").text for _ in range(2)]

    tokens = [re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0] for page in pages]

    assert tokens[0] != tokens[1]
    assert not [page for page in pages if any(cookie.value in page for cookie in client.cookies.values())]
    taken = [client.post("/ops/settings/", {"csrfmiddlewaretoken": token, "theme": "dark"}) for token in tokens]
    assert 403 not in [answer.status_code for answer in taken]


@pytest.mark.django_db
def test_an_export_is_compressed_as_it_is_streamed(alice, bob):
    for _ in range(50):
        factories.sent_task(alice, bob, intent_text="book a hotel")
    factories.person("ana", Role.OPERATOR)
    client = Client()
    client.force_login(User.objects.get(username="ana"), backend="django.contrib.auth.backends.ModelBackend")

    answer = client.get("/ops/tasks.csv", headers=GZIP)
    content = b"".join(answer)

    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(content).count(b"book a hotel") == 50
    assert len(content) < len(gzip.decompress(content)) / 3


@pytest.mark.django_db
def test_an_answer_to_a_program_is_never_compressed(alice):
    answer = Client().get("/.well-known/agent-card.json", headers=GZIP)

    assert answer.status_code == 200
    assert "Content-Encoding" not in answer


@pytest.mark.django_db
def test_a_collected_file_has_a_hashed_name_and_is_kept_for_ever(collected):
    url = static("ops/ops.css")

    answer = Client().get(url, headers=GZIP)
    content = b"".join(answer)
    answer.close()

    assert url in Client().get("/ops/sign-in/").text
    assert url != "/static/ops/ops.css"
    assert answer["Cache-Control"] == "max-age=315360000, public, immutable"
    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(content) == (configured.BASE_DIR / "dashboard/static/ops/ops.css").read_bytes()


@pytest.mark.django_db
def test_without_collected_files_the_packages_serve_them_for_a_minute():
    answer = Client().get(static("ops/ops.css"), headers=GZIP)
    answer.close()

    assert static("ops/ops.css") == "/static/ops/ops.css"
    assert answer["Cache-Control"] == "max-age=60, public"
    assert "Content-Encoding" not in answer


def test_collected_files_are_used_until_one_of_the_dashboard_is_newer(project):
    with_manifest = used(project)
    os.utime(project / "site/static/staticfiles.json", (1, 1))
    with_an_older_one = used(project)
    (project / "site/static/staticfiles.json").unlink()
    without = used(project)

    assert [one["WHITENOISE_USE_FINDERS"] for one in (with_manifest, with_an_older_one, without)] == [False, True, True]
    assert with_manifest["STORAGES"]["staticfiles"]["BACKEND"] == COLLECTED
    assert with_an_older_one == without
