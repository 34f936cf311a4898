"""Pi, the coding agent."""
