"""The verbs of `life` in few statements.

Nothing is decided here that `life` does not decide. Each function answers the plain case, or None without a change.
"""
