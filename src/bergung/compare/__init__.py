"""Two tables, or two states of one: do they hold the same rows, and are they made the same way.

In: the words of a user, catalogs, a Spark session. Out: differences of schema, partitioning and sort order; rows that only one has.
It reads, and changes nothing.
"""
