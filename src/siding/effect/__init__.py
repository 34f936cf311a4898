"""What a command would change, shown to the person who is asked about it."""
