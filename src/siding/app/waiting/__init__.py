"""What waits for a person, and the board of tasks."""
