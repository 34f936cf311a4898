"""Looking at the built-in agent: what it finds here, and what its conversations were."""
