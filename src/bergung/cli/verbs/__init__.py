"""One file per command: its words and its help, so that `--help` imports nothing else of the house.

In: the words of the command line. Out: the Result that its file in `calls` gives. It does nothing itself.
"""
