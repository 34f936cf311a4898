"""Start a task from somewhere else than its base."""
