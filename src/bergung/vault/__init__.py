"""The only room that knows a path inside a vault; `docs/format.md` is its contract.

In: a store, records, receipts, blobs. Out: the same, read by digest, and the log that says which points exist.
It never overwrites, never deletes, and knows nothing of catalogs or of Spark.
"""
