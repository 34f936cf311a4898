"""What a sandboxed run commits: kept apart, then taken over."""
