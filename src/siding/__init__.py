"""Siding: run any coding agent on its own git worktree, with every step recorded."""

__version__ = "0.1.0"
