"""Phases, on the page."""
