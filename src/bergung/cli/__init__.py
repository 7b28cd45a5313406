"""The door for people and scripts.

In: the words of a command, bergung.toml, BERGUNG_ variables. Out: text or JSON lines, progress, and an exit code.
It decides nothing about tables or vaults: a file of `verbs` asks one verb of the house, and tells what came of it.
"""
