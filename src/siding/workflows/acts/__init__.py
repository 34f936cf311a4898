"""Workflows in a project: found, trusted, run, watched, resumed."""
