"""aider."""
