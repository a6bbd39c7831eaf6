"""The example of docs/operate/keys.md runs against a hub as it stands."""

import json
import os
import subprocess

import pytest

from tests.support import factories, pages
from tools.lint.pages import section

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def test_the_example_rotates_a_key(served_hub):
    rolling = section(pages.page("docs/operate/keys.md"), "Roll a key without a gap")
    (language, commands), *_ = pages.BLOCK.findall(rolling)
    assert language == "sh"
    key = factories.key_of(factories.agent("carol"))

    environment = os.environ | {"HUB": served_hub.url, "KEY": key}
    words = ("bash", "-euc", commands)
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)

    assert json.loads(ran.stdout)["kind"] == "a2a_key_rotated"
