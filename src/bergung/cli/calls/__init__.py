"""What each command does once it is called: ask the verb, and put what came of it into words.

In: a Door and the words of the command. Out: a Result for `telling`. Importing these costs what the verbs cost, so only
the commands in `verbs` do it, when they are called.
"""
