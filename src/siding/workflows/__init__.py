"""Deterministic scripts that run many agents. Knows nothing of agents or git: calls are opaque."""
