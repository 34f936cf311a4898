"""JavaScript workflows of the predecessor, as Python ones."""
