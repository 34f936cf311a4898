"""`siding policy …`: what commands may do."""
