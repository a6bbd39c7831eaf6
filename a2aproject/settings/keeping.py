"""Settings of what the hub keeps, for how long, and how the journal is sealed."""

from __future__ import annotations

from datetime import timedelta

from a2aproject.settings.environment import CENTURY_MS, env

# Statuses of the results that the idempotency cache keeps, and for how long: 90 days (0: until an operator drops the
# entry).
A2A_REPLAY_STATUSES = env.words("A2A_REPLAY_STATUSES", ["ok"], "ok", "partial", "error")
A2A_REPLAY_TTL = timedelta(milliseconds=env.integer("A2A_REPLAY_TTL_MS", 7_776_000_000, least=0, most=CENTURY_MS))

# How long finished tasks are kept: after the acknowledgement, and after a delivery without one. With SWEEP on, the
# scheduler deletes them; otherwise operators do.
A2A_RETENTION_ACKED = timedelta(milliseconds=env.integer("A2A_RETENTION_ACKED_MS", 3_600_000, least=0, most=CENTURY_MS))
A2A_RETENTION_DELIVERED = timedelta(
    milliseconds=env.integer("A2A_RETENTION_DELIVERED_MS", 604_800_000, least=0, most=CENTURY_MS)
)
A2A_RETENTION_SWEEP = env.switch("A2A_RETENTION_SWEEP", default=False)
# The sweep always deletes callbacks of this age that were delivered or given up, and peers that were silent so long.
A2A_RETENTION_CALLBACKS = timedelta(
    milliseconds=env.integer("A2A_RETENTION_CALLBACKS_MS", 2_592_000_000, least=0, most=CENTURY_MS)
)
A2A_RETENTION_PEERS = timedelta(
    milliseconds=env.integer("A2A_RETENTION_PEERS_MS", 2_592_000_000, least=0, most=CENTURY_MS)
)

# The journal is sealed in signed blocks. TRUSTED_KEYS are the public keys of earlier seal keys. The hub posts the hash
# of the newest block to ANCHOR_URL.
A2A_SEAL_TRUSTED_KEYS = env.list("A2A_SEAL_TRUSTED_KEYS", default=[])
A2A_SEAL_ANCHOR_URL = env.address("A2A_SEAL_ANCHOR_URL")
