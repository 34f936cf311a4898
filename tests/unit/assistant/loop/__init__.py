"""Laws of the built-in agent."""
