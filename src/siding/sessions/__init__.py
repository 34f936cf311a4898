"""Find, read, continue, import and export conversations (sessions)."""
