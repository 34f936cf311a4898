"""Apply a task's change to its target branch, or open a pull request for it."""
