"""Tables from a recovery point back to where they were, or to another place under other paths.

In: a point, the words of a user, the catalogs. Out: files that were missing, an entry in the catalog, written last.
It never writes over a different file, and never moves a living table, unless the user confirmed exactly that.
"""
