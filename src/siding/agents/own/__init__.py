"""Siding's own agent."""
