"""One module per use case, wired together in ``wiring``; returns frozen views."""
