import os
import stat

import pytest

from a2aproject.management.commands import serve
from a2aproject.management.commands.serve import Credentials
from mailbox.access.agents.registration import Registration
from mailbox.models import Agent
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def credentials(db):
    first = Registration(
        agent=factories.AgentFactory.create(display="first@local"), private_key="pr1vate", api_key="a2a_k3y"
    )
    return Credentials(password="pa55word", operator_key="a2a_0perator", first=first)


SECRETS = ["pa55word", "a2a_0perator", "a2a_k3y", "pr1vate"]


def test_a_terminal_shows_the_secrets_and_names_the_file(credentials, tmp_path):
    shown = credentials.announce(tmp_path, on_terminal=True)

    assert all(secret in shown for secret in SECRETS)
    assert f"They are also in {tmp_path / 'first-run.txt'}" in shown


def test_other_output_names_only_the_file(credentials, tmp_path):
    shown = credentials.announce(tmp_path, on_terminal=False)

    assert not any(secret in shown for secret in SECRETS)
    assert str(tmp_path / "first-run.txt") in shown


def test_the_file_is_private_and_has_the_secrets(credentials, tmp_path):
    before = os.umask(0)
    try:
        credentials.announce(tmp_path, on_terminal=False)
    finally:
        os.umask(before)

    file = tmp_path / serve.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert all(secret in file.read_text() for secret in SECRETS)
    assert [path.name for path in tmp_path.iterdir()] == [serve.FILE]


def test_an_unusable_folder_is_an_error(credentials, tmp_path):
    with pytest.raises(OSError, match="No such file"):
        credentials.announce(tmp_path / "missing", on_terminal=False)


def test_only_the_first_run_makes_credentials(db):
    assert serve.create_operator_and_agent() is not None
    assert serve.create_operator_and_agent() is None
    assert Agent.objects.filter(display=serve.FIRST_AGENT).count() == 1
