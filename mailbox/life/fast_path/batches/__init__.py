"""The plain cases of the verbs of batches: many tasks or results in one commit, and in few statements.

`mailbox.life.batches` holds the contract. The single verb decides each item that these functions leave
out. The number of statements does not depend on the number of items.

`statements` holds the SQL clauses that both databases share; `postgresql` and `sqlite` run them. The items of a batch
are one parameter, a JSON array of objects, which the statements read as the rows of `given`.
"""
