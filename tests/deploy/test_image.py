"""The image: what the Dockerfile names exists, and what it copies is enough for a hub that serves."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support import pages
from tests.support.hub import PATIENCE, ROOT, served
from tests.support.ports import CLOSED

pytestmark = pytest.mark.one_database

lay_out = importlib.import_module("docs.lay_out")

DOCKERFILE = pages.page("Dockerfile").replace("\\\n", " ")
ADMITTED = [line[1:] for line in pages.page(".dockerignore").splitlines() if line.startswith("!")]
OF_THE_INTERPRETER = {"PATH", "PYTHONDONTWRITEBYTECODE"}


def words_of(instruction: str) -> list[str]:
    """Return the words of every such instruction, in their order."""
    return [word for line in re.findall(rf"^{instruction} (.*)$", DOCKERFILE, re.MULTILINE) for word in line.split()]


def variables() -> dict[str, str]:
    return dict(word.split("=", 1) for word in words_of("ENV"))


def healthy(code: Path, port: int | str) -> subprocess.CompletedProcess[str]:
    """Run the health check of the image on a hub at the port."""
    _, check = re.findall(r"^HEALTHCHECK (.*?) CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[0]
    command = [sys.executable, *json.loads(check)[1:]]
    environment = os.environ | {"PORT": str(port), "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
    return subprocess.run(command, cwd=code, env=environment, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a folder with the files that the image gets."""
    code = tmp_path / "image"
    for name in ADMITTED:
        source, target = ROOT / name, code / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    return code


@pytest.mark.processes
@pytest.mark.processes
def test_the_files_of_the_image_serve_a_hub_that_its_health_check_finds_ready(copied, tmp_path):
    with served(tmp_path / "var", services="all", migrates=True, code=copied, PYTHONPATH="") as hub:
        ready = healthy(copied, urlsplit(hub.url).port or 0)
        page = httpx.get(f"{hub.url}/ops/sign-in/")
    ended = healthy(copied, CLOSED)

    assert (ready.returncode, ready.stderr) == (0, "")
    assert "Sign in" in page.text
    assert ended.returncode == 1
    assert "does not answer" in ended.stderr


@pytest.mark.processes
@pytest.mark.processes
def test_the_health_check_gives_the_reason_of_a_hub_that_is_not_ready(copied, tmp_path):
    with served(tmp_path / "var", code=copied, PYTHONPATH="") as hub:
        missing = healthy(copied, urlsplit(hub.url).port or 0)

    assert missing.returncode == 1
    assert "migrations are not applied" in missing.stderr


def test_no_data_secrets_or_tests_are_in_the_image():
    assert pages.page(".dockerignore").splitlines()[1] == "*"
    assert [name for name in ADMITTED if not (ROOT / name).exists()] == []
    assert not {name.split("/")[0] for name in ADMITTED} & {".git", ".venv", "tests", "var"}


def test_everything_that_the_build_installs_is_admitted():
    hub, site = re.findall(r"RUN .*requirements/install\.sh (.*)$", pages.page("Dockerfile"), re.MULTILINE)
    (made_by,) = re.findall(r"requirements/install\.sh \$< (.*)$", pages.page("Makefile"), re.MULTILINE)[:1]

    assert hub.split() == ["requirements/base.txt", *made_by.split()]
    assert site.split() == ["requirements/docs.txt"]
    assert {"requirements/install.sh", *hub.split(), *site.split()} <= {*ADMITTED}


def test_the_site_in_the_image_is_built_from_every_page_by_the_commands_of_make():
    made = re.findall(r"^\t@(\.venv-docs/.*)$", pages.page("Makefile"), re.MULTILINE)
    elsewhere = {path for path in lay_out.ELSEWHERE if not path.startswith("clients/python/")}

    assert f"RUN {' && '.join(made)}\n" in pages.page("Dockerfile")
    assert {"docs", *elsewhere} <= {*ADMITTED} & {*words_of("COPY")}
    assert "/opt/a2a-hub/site/new/html" in words_of("COPY")


def test_the_python_of_the_image_is_one_version_that_the_project_supports():
    (version,) = re.findall(r"^ARG PYTHON_IMAGE=\S+/python:(\d+\.\d+)-slim-\w+$", DOCKERFILE, re.MULTILINE)
    oldest = tomllib.loads(pages.page("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")

    assert tuple(map(int, version.split("."))) >= tuple(map(int, oldest.split(".")))
    assert words_of("FROM").count("${PYTHON_IMAGE}") == 2


def test_the_variables_of_the_image_are_settings_of_the_hub():
    listed = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", pages.first_cells(pages.page("docs/reference/settings.md"))))

    assert variables().keys() - OF_THE_INTERPRETER <= listed
    assert [variables()["PORT"]] == words_of("EXPOSE")
    assert [variables()["A2A_VAR"]] == words_of("VOLUME")


def test_the_hub_of_the_image_is_not_root_and_can_be_stopped():
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", words_of("USER")[0])
    assert words_of("STOPSIGNAL") == ["SIGTERM"]
    assert words_of("ENTRYPOINT")[0] == '["tini",'
