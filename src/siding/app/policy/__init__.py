"""The policy in force, what it says to a command, and hooks."""
