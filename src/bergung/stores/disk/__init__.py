"""Files of this machine, for `stores.local` alone.

In: paths. Out: files created whole and only once, folders walked in key order, the system's errors in this house's words.
It knows no keys but those a walk makes, and follows no link that its caller has not allowed.
"""
