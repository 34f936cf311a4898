"""What each page shows: one module a page, values in, no HTML."""
