"""Decisions and paired devices, on the page."""
