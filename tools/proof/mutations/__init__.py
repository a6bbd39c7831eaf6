"""Hand-made bugs of the product, each with the test that catches it: python -m tools.proof.mutations [NAME...].

A bug is a change of the product's text. The runner makes it in a copy of the tree, runs the test there, and demands
that this test fails. Each changed text must occur exactly once, so a bug cannot go stale unseen.
"""
