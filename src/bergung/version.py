"""The version of this package, without asking the installer's records at every start."""

VERSION = "0.1.0"
