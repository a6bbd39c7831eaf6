import pytest

from mailbox.access.callers import Role
from mailbox.models import AuditEvent, Seal
from mailbox.upkeep import sealing
from mailbox.words import sealed
from tests.support import factories, merkle
from tests.support.api import Api, error_of
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return Api(factories.person("olga", Role.OPERATOR))


@pytest.fixture
def journal(monkeypatch):
    """Return the rows of a journal of three blocks."""
    monkeypatch.setattr(sealing, "BLOCK", 2)
    rows = old_rows(6)
    sealing.seal()
    return rows


def test_a_verification_goes_on_where_the_last_answer_ended(operator, journal):
    first = operator.get("/audit/verify", blocks=2).json()
    second = operator.get("/audit/verify", after=first["next_after"]).json()

    assert (first["whole"], first["blocks"], first["rows"], first["next_after"]) == (True, 2, 4, journal[3].pk)
    assert (second["whole"], second["blocks"], second["next_after"]) == (True, 1, None)
    assert second["head"] == {"last_id": journal[5].pk, "hash": Seal.objects.latest("last_id").block.hash}


def test_the_first_wrong_block_and_row_are_named(operator, journal):
    with triggers_off():
        AuditEvent.objects.filter(pk=journal[3].pk).delete()

    found = operator.get("/audit/verify").json()

    assert found["whole"] is False
    assert found["finding"] == {
        "problem": "the row was deleted",
        "first_id": journal[2].pk,
        "last_id": journal[3].pk,
        "row": journal[3].pk,
    }


def test_a_head_recorded_elsewhere_must_be_in_the_journal(operator, journal):
    found = operator.get("/audit/verify", head="ab" * 32).json()

    assert found["finding"]["problem"] == f"no block has the hash {'ab' * 32}"


def test_a_proof_can_be_checked_from_the_answer_alone(operator, journal):
    proof = operator.get(f"/audit/proof/{journal[2].pk}").json()

    steps = [(step["side"], bytes.fromhex(step["hash"])) for step in proof["steps"]]
    leaf = sealed.leaf(proof["block"]["form"], proof["row"])
    assert leaf.hex() == proof["leaf"]
    assert merkle.climb(leaf, steps).hex() == proof["block"]["root"]
    assert proof["block"]["key"] == Seal.objects.latest("last_id").key


@pytest.mark.parametrize("row", ["999999", "9" * 18, "9" * 30, "0", "-1", "one", "\u0661"])
def test_a_row_without_a_seal_has_no_proof(operator, journal, row):
    assert error_of(operator.get(f"/audit/proof/{row}")) == (404, "not_sealed")


@pytest.mark.parametrize("path", ["/audit/verify", "/audit/proof/1"])
def test_agents_and_viewers_may_not_read_the_seals(path, alice):
    viewer = Api(factories.person("vera", Role.VIEWER))

    assert error_of(viewer.get(path)) == (403, "capability_missing")
    assert error_of(Api(alice).get(path)) == (403, "capability_missing")
    assert factories.last_event().kind == "capability_check"


@pytest.mark.parametrize("query", [{"from_row": 0}, {"blocks": 51}, {"after": "x"}, {"unknown": 1}])
def test_an_invalid_query_is_refused(operator, query):
    assert error_of(operator.get("/audit/verify", **query)) == (400, "invalid_request")
