"""Decisions: questions to a person, and the answers."""
