"""Write to a transcript: append, branch, compact."""
