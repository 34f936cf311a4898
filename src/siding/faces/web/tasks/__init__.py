"""Tasks, on the page."""
