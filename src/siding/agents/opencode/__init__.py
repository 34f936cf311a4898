"""opencode."""
