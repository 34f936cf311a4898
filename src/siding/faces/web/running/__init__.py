"""Runs that live, for the page."""
