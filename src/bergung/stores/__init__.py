"""Bytes under keys, wherever they lie; the only importer of object-store clients.

In: a key, bytes. Out: bytes, facts about an object and its versions, errors of this house.
It knows nothing of tables or vaults, and never overwrites.
"""
