"""Iceberg's REST catalogs, asked by plain HTTP: the answers are kept as they came, no table of theirs is parsed.

In: a declaration. Out: pointers with the metadata that the server gives out, and the access that it vends. It never
drops an entry, and it says so where a server cannot swap one.
"""
