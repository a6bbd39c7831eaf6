"""Plain values without a database: envelopes, errors, kinds, content, times, secrets."""
