"""Coding agents: `table` lists them, and the module of an agent says what else is known of it."""
