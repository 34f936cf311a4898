"""What a command prints, kept in files while it runs."""
