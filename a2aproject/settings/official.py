"""Settings of the official A2A protocol. All times are in milliseconds."""

from __future__ import annotations

from a2aproject.settings.environment import env

# How long a SendMessage may wait for the answer. Then it is answered with the task as it is.
A2A_BLOCKING_WAIT_MS = env.integer("A2A_BLOCKING_WAIT_MS", 300_000, least=0, most=86_400_000)
# How long a stream may last. Its client then subscribes again.
A2A_STREAM_LIMIT_MS = env.integer("A2A_STREAM_LIMIT_MS", 3_600_000, least=1, most=86_400_000)
# The pause between signs of life on a silent answer. Stock clients give up after 5 seconds of silence.
A2A_KEEPALIVE_MS = env.integer("A2A_KEEPALIVE_MS", 2_000, least=10, most=60_000)
# How long the first event of a stream may wait for the holder's first word, which may be the whole answer.
A2A_FIRST_WORD_MS = env.integer("A2A_FIRST_WORD_MS", 1_000, least=0, most=60_000)
# Origins whose pages may call the protocol from a browser. Cards answer any origin.
A2A_CORS_ORIGINS = env.list("A2A_CORS_ORIGINS", default=[])
