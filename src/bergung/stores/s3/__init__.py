"""Buckets of any S3-compatible store, for `stores.open` alone; the only importer of botocore here.

In: keys of a bucket, accesses by prefix. Out: objects created whole and only once, versions, locks, the store's errors in
this house's words. What it asks twice is only what may be asked twice: a create-only write whose answer was lost is looked at.
"""
