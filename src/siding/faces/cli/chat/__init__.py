"""The verbs about conversations."""
