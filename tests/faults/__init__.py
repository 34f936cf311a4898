"""Fault injection for commands that keep files: see `harness` for the gates."""
