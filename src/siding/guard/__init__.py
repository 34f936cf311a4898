"""The policy in force, its verdict on a command, and hooks."""
