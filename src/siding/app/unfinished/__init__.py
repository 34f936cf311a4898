"""What a dead command left, by kind: finished or forgotten before anything new."""
