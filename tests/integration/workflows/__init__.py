"""Workflows in a project."""
