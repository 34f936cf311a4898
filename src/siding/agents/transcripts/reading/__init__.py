"""Read a transcript: its tree, the live chain, its newest end first."""
