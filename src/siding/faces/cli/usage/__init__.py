"""The verb `usage`."""
