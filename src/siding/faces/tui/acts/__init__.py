"""What is done from the terminal: the acts of Siding, and what each has to say afterwards."""
