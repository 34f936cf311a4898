"""`siding phase …`: where a task stands in its process."""
