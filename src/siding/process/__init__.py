"""The only place where a child process starts.

`capture` runs short helper commands (git) and returns what they print. `record` runs the user's
command: its output goes to the screen and to an artifact at once, and nothing it started is left
behind unseen. Only `capture` is imported by read commands, so it stays small.
"""
