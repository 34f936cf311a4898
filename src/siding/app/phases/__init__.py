"""A task's way through its phases, and the gates on it."""
