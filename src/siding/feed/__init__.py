"""The inbox, which lists what waits for a person, and the board of tasks."""
