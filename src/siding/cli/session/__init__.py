"""`siding session …`: conversations."""
