"""Widgets of many rows, of which only those on the screen are drawn: transcript, patch, list."""
