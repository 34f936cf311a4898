"""Worktrees that are taken from one recorded state to another, without a checkout of all files."""
