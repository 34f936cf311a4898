"""Create the linked worktrees of the person's repository, move them aside, and bring them back."""
