"""Agents that are given one prompt and end: how each is told, and what its output says."""
