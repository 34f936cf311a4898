"""What was recorded, on the page."""
