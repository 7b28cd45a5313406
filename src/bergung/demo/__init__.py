"""A small lake to try things on, and the whole story of losing it and getting it back.

In: a Spark session and a catalog that may be filled. Out: tables of every kind that Iceberg knows, with a history.
It never touches a table that it did not make.
"""
