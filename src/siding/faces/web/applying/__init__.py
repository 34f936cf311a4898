"""Applying, on the page."""
