"""``agents add --card`` and ``profile --card-url``: remote agents that speak the official protocol."""

import io
import sys

import pytest
from django.core.management.base import CommandError
from django.db import connection

from agentcards.models import AgentProfile
from mailbox.models import Agent, AuditEvent
from tests.support.official_agents import BINDINGS

pytestmark = pytest.mark.django_db


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_text("sekret\n")
    return path


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_remote_agent_is_registered_by_its_card(a2a, offie, binding):
    offie.binding = binding

    a2a("agents", "add", "olive", "--card", offie.url)

    profile = AgentProfile.objects.get(agent__display="olive@local")
    assert (profile.card_url, profile.card_key, profile.remote_url) == (offie.url, "", "")
    assert (profile.name, profile.description) == ("Offie", "Repeats each message")


def test_the_key_is_stored_encrypted_and_shown_nowhere(a2a, offie, key_file):
    printed = a2a("agents", "add", "olive", "--card", offie.url, "--key-file", key_file)
    printed += a2a("profile", "olive", "--json")

    with connection.cursor() as cursor:
        cursor.execute("SELECT card_key FROM agentcards_agentprofile")
        ((stored,),) = cursor.fetchall()
    assert stored.startswith("sealed:")
    assert AgentProfile.objects.get().card_key == "sekret"
    assert "sekret" not in printed + stored + "".join(str(event.fields) for event in AuditEvent.objects.all())


def test_an_agent_whose_card_cannot_be_read_is_not_registered(a2a, offie):
    offie.card = {"version": ""}

    with pytest.raises(CommandError, match="missing required fields"):
        a2a("agents", "add", "olive", "--card", offie.url)

    assert not Agent.objects.filter(display="olive@local").exists()


def test_a_key_without_a_card_is_wrong_usage(a2a, key_file):
    with pytest.raises(CommandError, match="--key-file needs --card") as refusal:
        a2a("agents", "add", "olive", "--key-file", key_file)

    assert refusal.value.returncode == 2


def test_a_profile_gets_a_card_and_a_key(a2a, offie, monkeypatch):
    a2a("agents", "add", "olive")
    monkeypatch.setattr(sys, "stdin", io.StringIO("sekret\n"))

    a2a("profile", "olive", "--card-url", offie.url, "--card-key", "-")

    profile = AgentProfile.objects.get()
    assert (profile.card_url, profile.card_key) == (offie.url, "sekret")


def test_an_agent_has_one_way_to_it(a2a, offie):
    a2a("agents", "add", "olive", "--card", offie.url)

    with pytest.raises(CommandError, match="the agent has a remote URL"):
        a2a("profile", "olive", "--remote-url", offie.url)


@pytest.mark.parametrize("key", ["two words", "kéy"])
def test_a_key_that_no_header_carries_is_refused(a2a, offie, monkeypatch, key):
    a2a("agents", "add", "olive", "--card", offie.url)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{key}\n"))

    with pytest.raises(CommandError, match="card_key"):
        a2a("profile", "olive", "--card-key", "-")
