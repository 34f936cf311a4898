"""Steps: the append-only record of everything done in a task."""
