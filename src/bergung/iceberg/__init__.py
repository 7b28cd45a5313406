"""The table format: what a metadata file, a manifest list and a manifest say, and what a table needs.

In: bytes and the path that they were read from. Out: facts, as dataclasses and Arrow tables; CorruptFile for bytes
that are not what they should be, UnsupportedTable for a format that is newer than this.
It opens nothing, knows no store and no catalog, and changes no path: what is written stays as it was written.
"""
