"""Acts taken back and done again."""
