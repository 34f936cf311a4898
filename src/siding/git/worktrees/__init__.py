"""The linked worktrees of the person's repository: made, moved aside, brought back."""
