"""The panel in which a person chooses how much an agent thinks."""
