"""Bugs of repairs, of the upkeep, and of what agents and people change about themselves."""

from tools.proof.mutations.bug import Bug, Change

COMPACTION, ERASING = "mailbox/upkeep/compaction.py", "mailbox/upkeep/erasure.py"
RETRY, PLANS = "mailbox/repairs/retry.py", "mailbox/repairs/plans.py"
ACCESS, REPAIRS, UPKEEP = "tests/mailbox/access", "tests/mailbox/repairs", "tests/mailbox/upkeep"

BUGS = (
    Bug(
        name="retry-gate-without-an-end",
        does="The retry gate requeues a task once more than its policy allows.",
        changes=(
            Change(
                RETRY,
                "    if lease.attempt >= policy.max_attempts and lease.tries >= policy.max_attempts:\n",
                "    if lease.attempt > policy.max_attempts and lease.tries > policy.max_attempts:\n",
            ),
        ),
        fails=f"{REPAIRS}/test_retry.py::test_a_task_is_requeued_until_its_attempts_are_used_up",
    ),
    Bug(
        name="expired-plan-is-applied",
        does="It applies a plan of repairs that has expired.",
        changes=(Change(PLANS, "    if plan.has_expired(journal.now):\n", "    if plan.expires_at is None:\n"),),
        fails=f"{REPAIRS}/test_plans.py::test_a_discarded_or_expired_plan_cannot_be_applied",
    ),
    Bug(
        name="plan-loses-its-guards",
        does="A plan repairs the live lease of a task, also a lease that began after the plan was made.",
        changes=(
            Change(
                "mailbox/repairs/plan_execution.py",
                "plan.verb, reason=plan.reason, lease_id=row.lease_id) as journal:\n",
                "plan.verb, reason=plan.reason, lease_id=None) as journal:\n",
            ),
            Change(
                "mailbox/repairs/plan_execution.py",
                "reason=plan.reason, duplicate_risk=risk, lease_id=row.lease_id\n",
                "reason=plan.reason, duplicate_risk=risk, lease_id=None\n",
            ),
        ),
        fails=f"{REPAIRS}/test_plan_execution.py::test_each_lease_keeps_its_guard",
    ),
    Bug(
        name="compaction-cuts-trees",
        does="Compaction deletes a task while a task below it stays.",
        changes=(
            Change(COMPACTION, 'finished.exclude(_has_child("pk", "uuid")).exclude(', "finished.exclude("),
            Change(
                COMPACTION,
                '            results.exclude(_has_child("task_id", "task__uuid"))\n',
                "            results\n",
            ),
        ),
        fails=f"{UPKEEP}/test_compaction.py::test_a_task_is_kept_while_a_task_below_it_is_kept",
    ),
    Bug(
        name="compaction-loses-figures",
        does="Compaction deletes rows that no roll-up has counted.",
        changes=(Change(COMPACTION, "        rollups.keep(free_keys)\n", ""),),
        fails=f"{UPKEEP}/test_rollups.py::test_tasks_compacted_one_after_another_are_all_counted",
    ),
    Bug(
        name="erased-words-stay",
        does="An erasure leaves the messages of its task.",
        changes=(
            Change(
                ERASING,
                '        "messages": sum(_blank_message(message) for message in messages),\n',
                '        "messages": len(messages),\n',
            ),
        ),
        fails=f"{UPKEEP}/test_erasure.py::test_nothing_of_an_erased_task_is_left_and_the_seals_are_right",
    ),
    Bug(
        name="retired-key-comes-back",
        does="An agent signs again with a key that was retired.",
        changes=(
            Change(
                "mailbox/access/credentials/signing_keys.py",
                "    if SigningKey.objects.of_agent(agent).filter(pubkey=pubkey).exists():\n"
                '        raise InvalidRequestError({"pubkey": "was retired; make a new key"})\n',
                "    SigningKey.objects.of_agent(agent).filter(pubkey=pubkey).delete()\n",
            ),
        ),
        fails=f"{ACCESS}/credentials/test_signing_keys.py::test_a_retired_key_never_comes_back",
    ),
    Bug(
        name="agent-opened-by-an-agent",
        does="An agent opens another to anyone, by passing its grant on.",
        changes=(
            Change(
                "mailbox/access/agents/grants.py",
                "action__in=sends, passed_on_from=None)",
                "action__in=sends)",
            ),
        ),
        fails=f"{ACCESS}/agents/test_grants_openness.py::test_no_agent_opens_another_by_passing_its_grant_on",
    ),
    Bug(
        name="recovery-codes-outlive-their-factor",
        does="A removed second factor leaves its recovery codes.",
        changes=(
            Change(
                "mailbox/access/people/second_factor.py",
                "    SecondFactor.objects.filter(user=person).delete()\n"
                "    RecoveryCodes.objects.filter(user=person).delete()\n",
                "    SecondFactor.objects.filter(user=person).delete()\n",
            ),
        ),
        fails=f"{ACCESS}/people/test_second_factor.py::test_a_removed_second_factor_leaves_nothing",
    ),
    Bug(
        name="typed-passwords-in-the-journal",
        does="The journal repeats a name of no account, which may be a password in the wrong field.",
        changes=(
            Change(
                "mailbox/access/people/sign_ins.py",
                "    name = typed if User.objects.filter(username=typed).exists() else access_entries.UNKNOWN_NAME\n",
                "    name = typed or access_entries.UNKNOWN_NAME\n",
            ),
        ),
        fails=f"{ACCESS}/people/test_sign_ins.py::test_many_invented_names_share_one_row",
    ),
)
