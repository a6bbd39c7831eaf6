"""The plain cases of the hot verbs, in few statements.

Nothing is decided here that `life` does not decide: the verbs there hold the contract and every other case. Each
function of `plain` answers the plain case, or returns None without a change; the verb then takes its whole form.
`statements` holds the SQL clauses; `postgresql` and `sqlite` run them.

A new rule, such as a quota or a signature, belongs to `access`. Either its decision fits in `Permit`, which both forms
ask for, or `plain.permitted` returns None wherever the rule applies.

`tests/mailbox/life/fast_path` compares both forms over random programs, and holds one case for each guard.
"""
