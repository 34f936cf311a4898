"""What is known of files that other programs run, or go by, without being told to."""
