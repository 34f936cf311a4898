"""`siding task …`: tasks, what is to be done."""
