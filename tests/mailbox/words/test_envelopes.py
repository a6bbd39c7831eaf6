import base58
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words.envelopes import AgentRef, check_pubkey
from mailbox.words.errors import InvalidRequestError

pytestmark = pytest.mark.one_database

PUBKEY = base58.b58encode(bytes(range(32))).decode()


@pytest.mark.parametrize(
    ("value", "ref"),
    [
        ("research@local", AgentRef("research@local")),
        ("research", AgentRef("research")),
        (PUBKEY, AgentRef(pubkey=PUBKEY)),
        (f"{PUBKEY}@local", AgentRef(f"{PUBKEY}@local")),
        ("a.B_c-9@h.o-s_t", AgentRef("a.B_c-9@h.o-s_t")),
        ({"display": "research@local", "pubkey": PUBKEY}, AgentRef("research@local", PUBKEY)),
        ({"display": "research@local", "pubkey": PUBKEY, "more": 1}, AgentRef("research@local", PUBKEY)),
    ],
)
def test_an_agent_is_read_from_its_name_or_from_an_object(value, ref):
    assert AgentRef.parse(value) == ref


@pytest.mark.parametrize(
    "value",
    [
        "",
        "@",
        "a@",
        "@b",
        "a@b@c",
        "a b@c",
        "a@b ",
        "a@b\n",
        "é@local",
        "a" * 201,
        None,
        7,
        ["a@b"],
        {},
        {"display": "a@b"},
        {"pubkey": PUBKEY},
        {"display": "a@b", "pubkey": None},
        {"display": "a@b", "pubkey": 1},
        {"display": "a", "pubkey": PUBKEY},
        {"display": "a@b", "pubkey": "0OIl"},
    ],
)
def test_an_invalid_agent_reference_is_rejected(value):
    with pytest.raises(InvalidRequestError):
        AgentRef.parse(value)


@given(st.binary(min_size=32, max_size=32))
def test_every_key_of_32_bytes_is_a_public_key(raw):
    check_pubkey(base58.b58encode(raw).decode(), "pubkey")


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_public_key_of_another_length_is_rejected(length):
    with pytest.raises(InvalidRequestError, match="32 bytes"):
        check_pubkey(base58.b58encode(bytes([1]) * length).decode(), "pubkey")


@pytest.mark.parametrize("spelling", [f"{PUBKEY} ", f"{PUBKEY}\n", f" {PUBKEY}", "0" * 44, "é" * 44])
def test_other_spellings_of_a_public_key_are_rejected(spelling):
    with pytest.raises(InvalidRequestError, match="base58"):
        check_pubkey(spelling, "pubkey")
