"""The only importer of pyspark: opens the session and runs carry's functions over DataFrames.

In: settings, task lists as part files, plain Arrow functions from carry. Out: DataFrames and the totals of a wave.
It decides nothing about tables or vaults, and no driver-side list of files is held here.
"""
