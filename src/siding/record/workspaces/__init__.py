"""Workspaces: made, bound, archived, restored, recovered."""
