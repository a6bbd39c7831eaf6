"""The proof: a hub under load and faults, and a check that it lost nothing and did nothing twice.

`make prove` runs it. A `Stage` is a hub with its database. Actors send requests through a `Proxy`, which cuts and
repeats them by a seed. The `History` records each operation with its tries. The checker compares the history with the
tables and the journal.
"""
