"""Pure functions from facts to plans.

In: facts that somebody else has read. Out: frozen plans that can be printed and then carried out.
It reads nothing and writes nothing.
"""
