"""The files that position deletes come in, taken apart and put together again.

In: a whole file and where its paths go. Out: a file in which the column of paths is new and everything else is as it was: as bytes
where the order of rows stays, else as values. What cannot be kept so is UnsupportedTable.
"""
