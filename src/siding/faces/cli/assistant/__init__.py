"""``siding agent``: the built-in agent, for scripts, other programs and at a terminal."""
