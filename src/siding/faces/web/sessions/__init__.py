"""Conversations, on the page."""
