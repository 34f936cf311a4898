"""`siding worktree …`: where it is done."""
