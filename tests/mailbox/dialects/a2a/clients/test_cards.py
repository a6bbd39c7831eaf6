"""Official clients read the card, verify its signature, and fetch the extended card."""

import pytest

from tests.support.clients.driven import RefusedError
from tests.support.clients.stage import DOORMAN
from tests.support.clients.talk import EVERY, NEW, OLD


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_the_card_of_1_0_is_signed(talk, stage):
    card = talk.driven.begin("card", {"verify": True}).result()

    interfaces = [
        (each["protocolBinding"], each["protocolVersion"], each["url"]) for each in card["supportedInterfaces"]
    ]
    base = stage.base_url("bob@local")
    assert interfaces == [("JSONRPC", "1.0", f"{base}a2a"), ("HTTP+JSON", "1.0", f"{base}rest")]
    assert card["capabilities"]["streaming"]
    assert card["capabilities"]["pushNotifications"]
    assert set(card["securitySchemes"]) == {"bearer", "apiKey"}


@pytest.mark.parametrize("sdk", OLD, ids=str)
def test_the_card_of_0_3_names_its_one_url(talk, stage):
    card = talk.driven.do("card")

    assert card["url"] == f"{stage.base_url('bob@local')}a2a"
    assert (card["protocolVersion"], card["preferredTransport"]) == ("0.3.0", "JSONRPC")
    assert card["securitySchemes"]["bearer"]["type"] == "http"


@pytest.mark.parametrize("sdk", EVERY, ids=str)
def test_the_extended_card_comes_with_a_key(talk):
    assert talk.driven.do("extended")["name"]


@pytest.mark.parametrize("sdk", EVERY, ids=str)
def test_the_extended_card_needs_a_key(stage, sdk):
    with pytest.raises(RefusedError):
        stage.talk(sdk, by="", to=DOORMAN).driven.do("extended")


@pytest.mark.parametrize("sdk", EVERY, ids=str)
def test_an_agent_is_found_by_its_whole_name_too(stage, sdk):
    assert stage.talk(sdk, to="bob@local").task("complete").state == "completed"
