import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import tokens

pytestmark = pytest.mark.one_database


def test_a_key_has_a_public_part_a_secret_and_a_checksum():
    minted = tokens.mint()

    prefix, public_id, secret, checksum = minted.key.split("_")
    assert (prefix, public_id) == ("a2a", minted.public_id)
    assert (len(public_id), len(secret), len(checksum)) == (8, 32, 6)
    assert minted.key.isascii()
    assert minted.key.replace("_", "").isalnum()
    assert tokens.public_id(minted.key) == public_id


def test_the_digest_is_the_sha256_of_the_key():
    minted = tokens.mint()

    assert minted.digest == hashlib.sha256(minted.key.encode()).hexdigest()
    assert minted.key not in minted.digest


def test_minted_keys_differ():
    assert len({tokens.mint().key for _ in range(100)}) == 100


@given(st.data())
def test_one_wrong_character_is_detected(data):
    key = tokens.mint().key
    position = data.draw(st.integers(0, len(key) - 1))
    other = data.draw(st.sampled_from("0aZ_-é ").filter(lambda char: char != key[position]))

    assert tokens.public_id(key[:position] + other + key[position + 1 :]) is None


@pytest.mark.parametrize(
    "text", ["", "a2a", "a2a___", "Bearer x", "a2a_" + "a" * 8 + "_" + "b" * 32 + "_" + "c" * 6, "\x00"]
)
def test_text_that_is_no_key_has_no_public_part(text):
    assert tokens.public_id(text) is None


@pytest.mark.parametrize("around", [" {}", "{} ", "{}\n", "x{}", "{}x"])
def test_text_around_a_key_makes_it_invalid(around):
    assert tokens.public_id(around.format(tokens.mint().key)) is None


@given(st.text())
def test_reading_arbitrary_text_never_raises(text):
    assert tokens.public_id(text) is None
