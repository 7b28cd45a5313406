"""Plain functions over Arrow batches that run on executors or in this process.

In: batches that say what to do with which files. Out: batches that say what came of it; failures are rows.
It never decides what to do, and imports neither pyspark nor pyiceberg.
"""
