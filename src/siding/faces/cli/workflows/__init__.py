"""`siding workflow …`: scripts that run many agents."""
