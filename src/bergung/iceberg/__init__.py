"""The table format: what a metadata file, a manifest list and a manifest say, and what a table needs.

In: bytes and the path that they were read from. Out: facts, as dataclasses and Arrow tables; CorruptFile for bytes
that are not what they should be, UnsupportedTable for a format that is newer than this.
It opens nothing and knows no store and no catalog. Paths stay as they were written, but in relocate, which gives a table others.
"""
