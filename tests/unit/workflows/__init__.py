"""Workflows, without real agents."""
