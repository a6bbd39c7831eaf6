"""Plain values that use no database: envelopes, errors, kinds of journal rows, content blocks, times, secrets."""
