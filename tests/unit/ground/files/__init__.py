"""Laws of the files package."""
