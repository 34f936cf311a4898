"""What agents use, and its limits."""
