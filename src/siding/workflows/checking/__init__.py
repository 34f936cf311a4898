"""What a script may not do, found before it runs."""
