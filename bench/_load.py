"""What PyIceberg needs to open a catalog and load every table of a namespace."""

import sys

from pyiceberg.catalog import load_catalog

if __name__ == "__main__":
    catalog = load_catalog(sys.argv[1])
    for table in catalog.list_tables(sys.argv[2]):
        catalog.load_table(table)
