"""The figures of several pages: thresholds, counts and plots."""
