"""The tools that search: Grep and Glob.

`choosing` finds what searches: the ripgrep of a wheel, the system's, or a Python program (`child`)
that prints the same. `searching` runs it with limits; `grep` and `glob` show what was found.
Ignored files are those that git ignores. Links are not followed.
"""
