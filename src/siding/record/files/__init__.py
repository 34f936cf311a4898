"""Bring the files of a worktree to the tree of a snapshot, losing none."""
