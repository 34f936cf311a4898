"""A workspace taken back to another state."""
