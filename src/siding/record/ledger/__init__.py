"""Steps: the append-only record of everything that was done in a task."""
