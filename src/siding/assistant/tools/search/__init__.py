"""The tools that search: Grep and Glob.

`search` is what is asked for and what was found; `grep` and `glob` show it. `ripgrep` finds a
program, a wheel's or the system's, and runs it with limits. Without ripgrep a search fails and says
what to install.
Ignored files are those that git ignores. Links are not followed.
"""
