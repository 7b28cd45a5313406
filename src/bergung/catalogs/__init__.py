"""Where tables are named: the only importer of pyiceberg.

In: names. Out: raw pointers to metadata files, namespaces with properties; registers and replaces pointers.
Where a table stands is told without opening it. Two kinds touch files: Hadoop's catalog is made of them, and Hive's
reads the metadata file that it registers, for its columns.
"""
