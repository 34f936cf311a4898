"""What disagrees, found and mended."""
