"""Bugs of the gate: grants, keys, quotas, rates, waits, nonces, seals and outages."""

from tools.proof.mutations.bug import Bug, Change

GRANTS, RATES, QUOTAS = (
    "mailbox/access/agents/grants.py",
    "mailbox/access/limits/rates.py",
    "mailbox/access/limits/quotas.py",
)
SEALING, SIGNATURES = "mailbox/upkeep/sealing.py", "mailbox/words/signatures.py"
ACCESS, AGENTS, LIFE = "tests/mailbox/access", "tests/mailbox/access/agents", "tests/mailbox/life"
UPKEEP = "tests/mailbox/upkeep"

BUGS = (
    Bug(
        name="grant-past-its-expiry",
        does="A grant admits requests after its expiry.",
        changes=(
            Change("mailbox/models/agent.py", "            Q(expires_at=None) | Q(expires_at__gte=now),\n", ""),
            Change(
                "mailbox/models/credentials.py",
                "k.agent_id AND g.revoked_at IS NULL\n  AND (g.expires_at IS NULL OR g.expires_at >= %(now)s) AND",
                "k.agent_id AND g.revoked_at IS NULL\n  AND",
            ),
        ),
        fails=f"{ACCESS}/test_capabilities.py::test_a_grant_ends_with_its_expiry",
    ),
    Bug(
        name="uses-are-not-counted",
        does="A grant of two uses admits any number of requests.",
        changes=(Change("mailbox/access/audit.py", "        permit.use(request, self.now)\n", ""),),
        fails=f"{ACCESS}/test_capabilities.py::test_each_use_is_counted_until_none_is_left",
    ),
    Bug(
        name="pin-of-an-unknown-field",
        does="A grant that pins a field which the hub does not know admits every request.",
        changes=(
            Change(
                "mailbox/access/requests.py",
                "all(name in SCOPE_FIELDS and _normal(name, pin) == self._field(name) for name, pin in pins.items())",
                "all(_normal(name, pin) == self._field(name) for name, pin in pins.items() if name in SCOPE_FIELDS)",
            ),
        ),
        fails=f"{ACCESS}/test_capabilities.py::test_an_unknown_scope_field_admits_no_request",
    ),
    Bug(
        name="grant-passed-on-without-its-end",
        does="An agent passes a grant on that outlives its own.",
        changes=(
            Change(
                GRANTS,
                "held.expires_at is None or (expires_at is not None and expires_at <= held.expires_at)",
                "held.expires_at is None or expires_at is None or expires_at <= held.expires_at",
            ),
        ),
        fails=f"{AGENTS}/test_grants.py::test_an_agent_cannot_pass_on_a_wider_grant",
    ),
    Bug(
        name="passed-on-grant-outlives-its-source",
        does="A revoked grant leaves the grants that were passed on from it.",
        changes=(Change(GRANTS, "        level = list(passed_on.", "        level = [] and list(passed_on."),),
        fails=f"{AGENTS}/test_grants.py::test_a_passed_on_grant_ends_with_its_source",
    ),
    Bug(
        name="revoked-key-authenticates",
        does="A revoked API key still names its agent.",
        changes=(
            Change(
                "mailbox/models/credentials.py",
                "k.public_id = %(public_id)s AND k.revoked_at IS NULL AND (k.expires_at",
                "k.public_id = %(public_id)s AND (k.expires_at",
            ),
        ),
        fails=f"{ACCESS}/credentials/test_authentication.py::test_unknown_expired_and_revoked_keys_are_refused_alike",
    ),
    Bug(
        name="waiting-request-outlives-its-key",
        does="A request that waits under a revoked key still gets what comes.",
        changes=(
            Change(
                "mailbox/access/limits/waits.py",
                "            authentication.require_live(self._key.caller)\n",
                "            pass\n",
            ),
        ),
        fails="tests/mailbox/database/test_waiting.py::test_a_look_after_the_end_of_the_key_is_refused",
    ),
    Bug(
        name="third-live-key",
        does="An owner with two live keys gets a third.",
        changes=(
            Change(
                "mailbox/access/credentials/keys.py",
                "filter(**of).count() >= LIVE_KEYS_PER_OWNER:",
                "filter(**of).count() > LIVE_KEYS_PER_OWNER:",
            ),
        ),
        fails=f"{AGENTS}/test_registration.py::test_no_owner_has_more_than_two_live_keys",
    ),
    Bug(
        name="task-beyond-the-quota",
        does="A sender stores bytes beyond its quota with its last task.",
        changes=(Change(QUOTAS, "        if count + amount <= limit:\n", "        if count < limit:\n"),),
        fails=f"{LIFE}/test_quotas.py::test_a_sender_stores_bytes_up_to_its_quota",
    ),
    Bug(
        name="bucket-without-a-brim",
        does="An agent that was silent for a day may send a day's requests at once.",
        changes=(
            Change(
                RATES,
                "        return min(float(rate.burst), level + (now - at) * rate.per_second)\n",
                "        return level + (now - at) * rate.per_second\n",
            ),
        ),
        fails=f"{ACCESS}/limits/test_rates.py::test_a_bucket_grants_its_burst_and_then_its_rate",
    ),
    Bug(
        name="stranger-shuts-out-an-agent",
        does="Failed requests of a stranger shut out the agents that share its address.",
        changes=(Change(RATES, " and not _live_keys.has(key):", ":"),),
        fails=f"{ACCESS}/limits/test_rates.py::test_a_stranger_shuts_out_no_agent_behind_its_address",
    ),
    Bug(
        name="guesser-fills-the-journal",
        does="Each refusal has a journal row of its own, however often an actor is refused in a minute.",
        changes=(
            Change(
                "mailbox/access/audit.py",
                "            if minute.rows <= MOST_ROWS:\n",
                "            if minute.rows:\n",
            ),
        ),
        fails=f"{ACCESS}/test_audit_repeated_refusals.py::test_a_minute_has_few_rows_of_one_actor_s_refusals",
    ),
    Bug(
        name="signature-without-an-end",
        does="It takes a signed request after its signature has expired.",
        changes=(Change(SIGNATURES, "        if now >= self.expires:\n", "        if now >= self.expires + 3600:\n"),),
        fails="tests/mailbox/words/test_signatures.py::test_a_signature_holds_from_its_creation_to_its_expiry",
    ),
    Bug(
        name="replayed-signature",
        does="A signed request that is recorded and repeated acts again.",
        changes=(
            Change(
                "mailbox/access/nonces.py",
                "        if not self.is_spent and not SpentNonce.objects.spend(",
                "        if not SpentNonce.objects.spend(self.pubkey, self.value, self.expires_at) and not (",
            ),
            Change("mailbox/access/credentials/authentication.py", "    if is_spent:\n", "    if is_spent is None:\n"),
        ),
        fails="tests/mailbox/dialects/test_signed_requests.py::test_a_signed_send_takes_effect_once",
    ),
    Bug(
        name="lost-seals-made-anew",
        does="It seals rows anew whose seals were deleted, and so hides the deletion.",
        changes=(Change(SEALING, "    _require_whole()\n    last =", "    last ="),),
        fails=f"{UPKEEP}/test_sealing.py::test_a_hub_whose_newest_seals_are_gone_does_not_seal_their_rows_anew",
    ),
    Bug(
        name="erasure-without-a-record",
        does="A verification takes a blanked row as erased, although no journal row records the erasure.",
        changes=(
            Change(
                "mailbox/words/sealed.py",
                "        if number not in backed.get(by, ()):\n",
                "        if by not in backed:\n",
            ),
        ),
        fails=f"{UPKEEP}/test_tombstones.py::test_an_erasure_that_no_row_backs_is_an_alarm",
    ),
    Bug(
        name="refused-change-is-no-outage",
        does="It reports itself as ready while the database refuses each change.",
        changes=(
            Change(
                "mailbox/database/outages.py",
                "        if outage is not None:\n            _memory.refused = outage, now\n",
                "",
            ),
        ),
        fails="tests/mailbox/database/test_outages.py::test_a_refused_change_is_an_outage_until_a_rehearsal_succeeds",
    ),
)
