"""Records of an Avro block cut at the fields that matter, without decoding the others.

In: a writer's schema, and the bytes of a block. Out: each record as its pieces, which put together again are the record, byte for
byte. Where a piece begins and ends is known from the schema and the bytes before it, never by looking for bytes.
"""
