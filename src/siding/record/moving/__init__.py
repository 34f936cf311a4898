"""A branch and a checkout moved to another commit."""
