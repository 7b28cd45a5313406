"""Where tables are named: the only importer of pyiceberg.

In: names. Out: raw pointers to metadata files, namespaces with properties; registers and replaces pointers.
It never parses a table and never touches a file of one.
"""
