"""Bring HEAD, the task's branch, the index and git's small files to a recorded state."""
