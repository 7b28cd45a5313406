"""Facts as frozen dataclasses, standard library only.

In: values. Out: values. No input or output, no clock, no other room of the house but errors.
"""
