"""Parrot: an agent that nobody has. Copy its folder for a new agent."""
