"""`siding worktree …`: workspaces, where tasks are done."""
