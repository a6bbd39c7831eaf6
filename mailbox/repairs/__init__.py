"""Repairs: requeue, force an error, the retry gate, and plans of many repairs."""
