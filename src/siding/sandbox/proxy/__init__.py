"""The proxy of a run: what goes through it, how it is started, and what a step has of it."""
