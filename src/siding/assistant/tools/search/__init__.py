"""The tools that search: Grep and Glob.

`ripgrep` finds one, a wheel's or the system's, and runs it with limits; `grep` and `glob` show what
was found. Without ripgrep a search fails and says what to install.
Ignored files are those that git ignores. Links are not followed.
"""
