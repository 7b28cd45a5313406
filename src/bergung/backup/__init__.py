"""Many tables into one recovery point that is one instant.

In: the words of a user, catalogs, a vault. Out: a sealed point, and what could not be taken, table by table.
It never writes to a source, never deletes, and leaves nothing visible when it does not come to its end.
"""
