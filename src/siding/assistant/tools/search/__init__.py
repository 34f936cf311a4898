"""The tools that search: Grep and Glob.

`choosing` finds a ripgrep: a wheel's or the system's. `searching` runs it with limits; `grep` and
`glob` show what was found. Without ripgrep a search fails and says what to install.
Ignored files are those that git ignores. Links are not followed.
"""
