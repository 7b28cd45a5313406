"""Care of a vault: is it all there, and what is in it.

In: a vault. Out: what was looked at, and what is damaged, named by file, tables and snapshots.
It changes nothing that exists.
"""
