"""The verbs about what runs."""
