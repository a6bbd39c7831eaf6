"""Outbound HTTP. Every outbound call checks its destination, and has limits of time and of answer size."""
