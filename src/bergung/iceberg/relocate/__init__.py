"""The same table under other paths: every file that names a path is made anew, from the bottom up.

In: a file's bytes and a PathMap. Out: its new bytes and what its parent must say of them. Exact or refused: a path that the map
does not know is UnmappedPath, and nothing that a reader could see beside paths, lengths and offsets differs.
"""
