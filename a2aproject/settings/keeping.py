"""Settings of what the hub keeps and for how long, of the journal's seals, and of the rates and quotas of agents."""

from a2aproject.settings.environment import env

# Statuses of the results that the idempotency cache keeps, and for how long: 90 days (0: until an operator drops the
# entry).
A2A_REPLAY_STATUSES = env.words("A2A_REPLAY_STATUSES", ["ok"], "ok", "partial", "error")
A2A_REPLAY_TTL = env.span("A2A_REPLAY_TTL_MS", 7_776_000_000, least=0)

# How long finished tasks are kept: after the acknowledgement, and after a delivery without one. With SWEEP on, the
# scheduler deletes them; otherwise operators do.
A2A_RETENTION_ACKED = env.span("A2A_RETENTION_ACKED_MS", 3_600_000, least=0)
A2A_RETENTION_DELIVERED = env.span("A2A_RETENTION_DELIVERED_MS", 604_800_000, least=0)
A2A_RETENTION_SWEEP = env.switch("A2A_RETENTION_SWEEP", default=False)
# The sweep always deletes callbacks of this age that were delivered or given up, and peers that were silent so long.
A2A_RETENTION_CALLBACKS = env.span("A2A_RETENTION_CALLBACKS_MS", 2_592_000_000, least=0)
A2A_RETENTION_PEERS = env.span("A2A_RETENTION_PEERS_MS", 2_592_000_000, least=0)

# The journal is sealed in signed blocks. TRUSTED_KEYS are the public keys of earlier seal keys. The hub posts the hash
# of the newest block to ANCHOR_URL.
A2A_SEAL_TRUSTED_KEYS = env.list("A2A_SEAL_TRUSTED_KEYS", default=[])
A2A_SEAL_ANCHOR_URL = env.address("A2A_SEAL_ANCHOR_URL")


# Requests a second of one agent, under all its keys, or of one person, and requests at once; 0 a second: no limit. Each
# web process grants its share. A client with one connection meets one process, so the share must suit a fast worker.
A2A_AGENT_REQUESTS_PER_S = env.integer("A2A_AGENT_REQUESTS_PER_S", 500, least=0)
A2A_AGENT_REQUESTS_BURST = env.integer("A2A_AGENT_REQUESTS_BURST", 2000, least=1)
# Requests a second from one address without a valid key, and requests at once.
A2A_ADDRESS_REQUESTS_PER_S = env.integer("A2A_ADDRESS_REQUESTS_PER_S", 50, least=0)
A2A_ADDRESS_REQUESTS_BURST = env.integer("A2A_ADDRESS_REQUESTS_BURST", 200, least=1)

# tasks/send: requests per minute and credential, and the number of tasks beyond which resolved tasks are deleted.
A2A_INBOUND_RATE_LIMIT_PER_MIN = env.integer("A2A_INBOUND_RATE_LIMIT_PER_MIN", 5, least=1)
A2A_TASKS_SEND_CAP = env.integer("A2A_TASKS_SEND_CAP", 1000, least=1)
# YEOMAN: messages and tasks per minute and credential.
A2A_RECEIVE_RATE_LIMIT_PER_MIN = env.integer("A2A_RECEIVE_RATE_LIMIT_PER_MIN", 600, least=1)
# Requests per minute without a key, from one address to one agent that is open to anyone.
A2A_ANONYMOUS_RATE_LIMIT_PER_MIN = env.integer("A2A_ANONYMOUS_RATE_LIMIT_PER_MIN", 120, least=1)
# Requests per minute through a public route that was created without a limit of its own.
A2A_ROUTE_RATE_LIMIT_PER_MIN = env.integer("A2A_ROUTE_RATE_LIMIT_PER_MIN", 120, least=1)

# Quotas of one agent, unless it has its own. They bound the queued tasks that it sent, and those for one recipient.
# They bound the bytes of its tasks until their compaction, and its callbacks to come. They also bound its waiting
# requests in one process, and its job cards.
A2A_QUOTA_QUEUED = env.integer("A2A_QUOTA_QUEUED", 10_000, least=1)
A2A_QUOTA_QUEUED_TO_ONE = env.integer("A2A_QUOTA_QUEUED_TO_ONE", 1000, least=1)
A2A_QUOTA_BYTES = env.integer("A2A_QUOTA_BYTES", 1_073_741_824, least=1, most=2**62)
A2A_QUOTA_CALLBACKS = env.integer("A2A_QUOTA_CALLBACKS", 1000, least=1)
A2A_QUOTA_WAITS = env.integer("A2A_QUOTA_WAITS", 32, least=1)
# Bytes of the messages and artifacts of one task.
A2A_TASK_MAX_BYTES = env.integer("A2A_TASK_MAX_BYTES", 16_777_216, least=1, most=2**30)
A2A_QUOTA_CARDS = env.integer("A2A_QUOTA_CARDS", 100, least=1)
