"""Start child processes; no other package does.

`capture` runs short helper commands (git) and returns what they print. `record` runs the user's
command: it shows and records the output at once, and reports every process that is left running.
Commands that only read import `capture` alone, so it stays small.
"""
