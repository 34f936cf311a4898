"""The built-in agent, put together."""
