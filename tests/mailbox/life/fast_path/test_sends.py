"""Each guard of the fast form of a send: a case that it alone leaves to the whole form, and cases beside it."""

from dataclasses import replace

import pytest

from mailbox.access.callers import Caller
from mailbox.life import operator_tasks
from mailbox.words.envelopes import AgentRef
from tests.support import factories
from tests.support.cases import Case, Table, assert_left, assert_served
from tests.support.stage import Stage, Step

pytestmark = pytest.mark.django_db
LEFT, SERVED = Table(), Table()


@LEFT.case("not_an_agent", unseen=True)
def a_person_sends(on: Stage) -> Step:
    return on.send(on.olga, on.envelope())


@LEFT.case("first for bob", unseen=True)
def a_task_calls_back(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(callback_url="https://alice.example/done"))


@LEFT.case("sender_mismatch", unseen=True)
def a_send_claims_another_sender(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(sender=factories.ref(on.anna)))


@LEFT.case("first for bob", unseen=True)
def a_send_claims_its_sender_by_a_part_of_the_name(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(sender=AgentRef("alice")))


@LEFT.case("second for bob", unseen=True)
def a_duplicate_waits(on: Stage) -> Step:
    on.sent(idempotency=factories.idempotent("k"), task_kind="sum")
    return on.send(on.alice, on.envelope("second", idempotency=factories.idempotent("k"), task_kind="sum"))


@LEFT.case("first for bob", unseen=True)
def a_recipient_is_named_by_a_local_part(on: Stage) -> Step:
    return on.send(on.alice, replace(on.envelope(), recipient=AgentRef("bob")))


@LEFT.case("first for bob", unseen=True)
def a_recipient_is_named_by_its_key_alone(on: Stage) -> Step:
    return on.send(on.alice, replace(on.envelope(), recipient=AgentRef(None, factories.row_of(on.bob).pubkey)))


@LEFT.case("capability_missing", unseen=True)
def a_sender_holds_no_grant(on: Stage) -> Step:
    return on.send(on.mallory, on.envelope())


@LEFT.case("capability_scope_mismatch", unseen=True)
def a_grant_is_pinned_to_another_recipient(on: Stage) -> Step:
    dora = on.agent("dora", "a2a.send.*", scope={"peer_pubkey_b58": factories.row_of(on.ben).pubkey})
    return on.send(dora, on.envelope())


@LEFT.case("first for bob", unseen=True)
def a_grant_to_send_counts_its_uses(on: Stage) -> Step:
    return on.send(on.agent("dora", "a2a.send.*", max_uses=1), on.envelope())


@LEFT.case("first for bob", unseen=True)
def a_grant_names_the_key_of_a_recipient_named_by_display(on: Stage) -> Step:
    dora = on.agent("dora", f"a2a.send.{factories.row_of(on.bob).pubkey}", "a2a.send.*")
    return on.send(dora, replace(on.envelope(), recipient=AgentRef("bob@local")))


@LEFT.case("first for bob", unseen=True)
def a_grant_pins_the_key_of_a_recipient_named_by_display(on: Stage) -> Step:
    dora = on.agent("dora", "a2a.send.*")
    factories.grant(dora, "a2a.send.bob@local", scope={"peer_pubkey_b58": factories.row_of(on.bob).pubkey})
    return on.send(dora, replace(on.envelope(), recipient=AgentRef("bob@local")))


@LEFT.case("first for ben")
def a_key_is_of_another_agent_than_the_display(on: Stage) -> Step:
    named = AgentRef("bob@local", factories.row_of(on.ben).pubkey)
    return on.send(on.alice, replace(on.envelope(), recipient=named))


@LEFT.case("first for bob")
def a_display_is_of_nobody_and_the_key_of_an_agent(on: Stage) -> Step:
    named = AgentRef("nobody@local", factories.row_of(on.bob).pubkey)
    return on.send(on.alice, replace(on.envelope(), recipient=named))


@LEFT.case("unknown_agent")
def a_recipient_is_not_registered(on: Stage) -> Step:
    return on.send(on.alice, replace(on.envelope(), recipient=AgentRef("nobody@local")))


@LEFT.case("first for bob")
def a_send_is_repeated(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(id=on.sent().uuid))


@LEFT.case("task_conflict")
def an_id_is_used_for_another_task(on: Stage) -> Step:
    return on.send(on.alice, on.envelope("second", id=on.sent().uuid))


@SERVED.case("first for bob")
def a_recipient_is_named_by_display_and_key(on: Stage) -> Step:
    return on.send(on.alice, on.envelope())


@SERVED.case("first for bob")
def a_recipient_is_named_by_display(on: Stage) -> Step:
    return on.send(on.alice, replace(on.envelope(), recipient=AgentRef("bob@local")))


@SERVED.case("first for bob")
def a_send_claims_its_own_sender(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(sender=factories.ref(on.alice)))


@SERVED.case("first for bob")
def a_task_is_not_safe_to_repeat(on: Stage) -> Step:
    return on.send(on.alice, on.envelope(idempotency=factories.unsafe()))


@SERVED.case("first for bob")
def a_grant_names_the_key_of_a_recipient_named_with_its_key(on: Stage) -> Step:
    return on.send(on.agent("dora", f"a2a.send.{factories.row_of(on.bob).pubkey}"), on.envelope())


@SERVED.case("first for bob")
def a_grant_of_another_action_names_a_key(on: Stage) -> Step:
    dora = on.agent("dora", f"a2a.respond.{factories.row_of(on.bob).pubkey}", "a2a.send.*")
    return on.send(dora, replace(on.envelope(), recipient=AgentRef("bob@local")))


@SERVED.case("first for bob")
def a_caller_on_local_trust_sends_as_an_agent(on: Stage) -> Step:
    return on.send(Caller.local(factories.row_of(on.mallory)), on.envelope())


@SERVED.case("first for bob")
def an_operator_sends_as_the_agent_of_operators(on: Stage) -> Step:
    return on.send(operator_tasks._as_operators(on.olga), on.envelope())


@pytest.mark.parametrize("case", LEFT.params)
def test_a_guard_leaves_the_send_to_the_whole_form(case: Case) -> None:
    assert_left(case)


@pytest.mark.parametrize("case", SERVED.params)
def test_the_fast_form_serves_the_send(case: Case) -> None:
    assert_served(case)
