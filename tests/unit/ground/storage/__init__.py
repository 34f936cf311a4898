"""Laws of the storage package."""
