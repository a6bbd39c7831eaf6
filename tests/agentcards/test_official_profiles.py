"""The fields of a profile that the card of the official protocol shows."""

from typing import Any

import pytest
from django.db import connection

from agentcards import official_card, profiles, secrets
from agentcards.models import AgentProfile
from agentcards.models.validation import LARGEST_NUMBER, LONGEST_PARAMS, MOST_EXTENSIONS, MOST_MODES
from mailbox.access.callers import Caller, Role
from mailbox.words.a2a.parts import DEEPEST
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from tests.support import factories, official
from tests.support.nesting import nested

pytestmark = pytest.mark.django_db

OWN: dict[str, Any] = {
    "input_modes": ["text/plain", "image/*", "application/vnd.api+json"],
    "output_modes": ["*/*"],
    "card_version": "2.1",
    "documentation_url": "https://docs.example/@bob?a=1,2#top",
    "icon_url": "http://192.0.2.1:8080/i.png",
}
OF_OPERATORS: dict[str, Any] = {
    "streaming": False,
    "push_notifications": False,
    "extended_card": False,
    "card_for_0_3": False,
    "message_id_is_key": True,
    "extensions": [{"uri": "urn:x", "description": "Traces", "required": True, "params": {"a": [1.5, None]}}],
    "extended_tools": ["write"],
}


@pytest.fixture
def ada():
    return factories.person("ada", Role.ADMIN)


def test_an_agent_changes_the_fields_of_its_own(bob):
    changed = profiles.update_profile(bob, bob.agent, OWN)

    stored = AgentProfile.objects.get()
    assert {name: getattr(stored, name) for name in OWN} == OWN
    assert factories.last_event().fields == {"display": "bob@local", "changed": OWN}
    assert stored.changed_at == changed.changed_at == factories.last_event().at


@pytest.mark.parametrize("field", OF_OPERATORS)
def test_only_admins_change_the_other_fields(bob, ada, field):
    with pytest.raises(CapabilityMissingError):
        profiles.update_profile(bob, bob.agent, {field: OF_OPERATORS[field]})
    untouched = getattr(AgentProfile.of(bob.agent), field)
    profiles.update_profile(ada, bob.agent, {field: OF_OPERATORS[field]})

    assert untouched == getattr(AgentProfile(), field)
    assert getattr(AgentProfile.objects.get(), field) == OF_OPERATORS[field]


def test_a_change_that_changes_nothing_keeps_the_time(bob):
    first = profiles.update_profile(bob, bob.agent, OWN).changed_at

    profiles.update_profile(bob, bob.agent, OWN)

    assert AgentProfile.objects.get().changed_at == first


def test_a_registration_counts_as_a_change(ada):
    made = profiles.register_agent(ada, "canyon", profile=OWN)

    assert AgentProfile.objects.get(agent=made.agent).changed_at is not None


def extension(**fields: Any) -> list[dict[str, Any]]:
    return [{"uri": "urn:x", **fields}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("input_modes", "text/plain"),
        ("input_modes", ["text"]),
        ("input_modes", ["*/plain"]),
        ("input_modes", ["text/plain; charset=utf-8"]),
        ("input_modes", ["text/plain\n"]),
        ("input_modes", [["text/plain"]]),
        ("output_modes", ["text/plain"] * (MOST_MODES + 1)),
        ("output_modes", ["a/" + "b" * 200]),
        ("output_modes", None),
        ("card_version", "x" * 101),
        ("card_version", "\x00"),
        ("documentation_url", "docs.example"),
        ("documentation_url", "ftp://docs.example"),
        ("documentation_url", "https://"),
        ("documentation_url", "https://[::1"),
        ("documentation_url", "https://docs.example:99999/"),
        ("documentation_url", "https://docs.example/" + "x" * 500),
        ("documentation_url", "https://me:secret@docs.example"),
        ("icon_url", "javascript:alert(1)"),
        ("icon_url", "data:image/png;base64,AA"),
        ("icon_url", 'https://docs.example/"><script>'),
        ("icon_url", "https://docs.example/a b"),
        ("streaming", None),
        ("streaming", "maybe"),
        ("extensions", {"uri": "urn:x"}),
        ("extensions", ["urn:x"]),
        ("extensions", [{"required": True}]),
        ("extensions", extension(uri="no uri")),
        ("extensions", extension(uri="https://example.org/a,b")),
        ("extensions", extension(uri=["urn:x"])),
        ("extensions", extension(uri="urn:" + "x" * 500)),
        ("extensions", extension(required="yes")),
        ("extensions", extension(description=None)),
        ("extensions", extension(description="x" * 10_001)),
        ("extensions", extension(params=[])),
        ("extensions", extension(params={"a": 2**53})),
        ("extensions", extension(params={"a": [-1e300]})),
        ("extensions", extension(params={"a": float("nan")})),
        ("extensions", extension(params={"a": "\x00"})),
        ("extensions", extension(params={"a": "x" * LONGEST_PARAMS})),
        ("extensions", extension(params=nested(DEEPEST + 1))),
        ("extensions", extension(unknown=1)),
        ("extensions", extension() * 2),
        ("extensions", [{"uri": f"urn:{number}"} for number in range(MOST_EXTENSIONS + 1)]),
        ("extended_tools", [""]),
        ("extended_tools", None),
    ],
)
def test_an_invalid_value_is_refused(bob, ada, field, value):
    with pytest.raises(InvalidRequestError) as refused:
        profiles.update_profile(ada, bob.agent, {"description": "new", field: value})

    assert list(refused.value.fields) == [field]
    assert not AgentProfile.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("extensions", []),
        ("extensions", extension(params={"a": LARGEST_NUMBER, "b": -1e-300, "c": {"d": [True, None, ""]}})),
        ("extensions", [{"uri": "https://example.org/x?y=[1]&z#1"}]),
        ("input_modes", []),
        ("documentation_url", ""),
    ],
)
def test_a_value_at_the_bounds_is_taken(bob, ada, field, value):
    profiles.update_profile(ada, bob.agent, {field: value})

    assert getattr(AgentProfile.of(bob.agent), field) == value


def test_a_row_of_the_version_before_has_the_defaults(bob):
    row = ["agent_id", "name", "description", "persona_archetype", "default_project", "wallet_address", "remote_url"]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO agentcards_agentprofile ({', '.join(row)}, skill_bundles)"  # noqa: S608 (names of columns)
            " VALUES (%s, '', '', '', '', '', '', '[]')",
            [factories.row_of(bob).pk],
        )

    stored, empty = AgentProfile.objects.get(), AgentProfile()

    assert all(getattr(stored, name) == getattr(empty, name) for name in (*OWN, *OF_OPERATORS, "changed_at"))


def test_an_erasure_blanks_the_texts_that_an_agent_gave_and_counts_as_a_change(bob):
    profiles.update_profile(bob, bob.agent, OWN)
    before = AgentProfile.objects.get().changed_at

    counts = secrets.erase_cards(Caller.command_line(), factories.row_of(bob), reason="a test")

    stored = AgentProfile.objects.get()
    assert counts["profiles"] == 1
    assert (stored.card_version, stored.documentation_url, stored.icon_url) == ("", "", "")
    assert stored.input_modes == OWN["input_modes"]
    assert before is not None
    assert stored.changed_at is not None
    assert stored.changed_at > before


def test_numbers_that_a_database_spells_otherwise_keep_the_signature_of_their_card(bob, ada):
    params = {"a": [1.0, 1e15, 1.5e-7, -0.0, 9007199254740991.0, 1e-300], "b": 10**15}
    profiles.update_profile(ada, bob.agent, {"extensions": extension(params=params)})

    official.verify(official_card.for_clients(AgentProfile.of(bob.agent), is_open=False, version="1.0"))


def test_the_official_sdk_reads_a_card_with_the_deepest_params(bob, ada):
    profiles.update_profile(ada, bob.agent, {"extensions": extension(params=nested(DEEPEST))})

    official.parsed(official_card.for_clients(AgentProfile.of(bob.agent), is_open=False, version="1.0"))
