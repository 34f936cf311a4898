"""Laws of the tools of the built-in agent."""
