"""Tools for those who work on Siding; nothing of them is in the package."""
