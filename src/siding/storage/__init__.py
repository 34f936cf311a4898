"""What is on disk: documents, journals, locks, versions, and the layout of the home."""
