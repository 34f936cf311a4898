"""The verbs about a task's change: `apply` and `pr`."""
