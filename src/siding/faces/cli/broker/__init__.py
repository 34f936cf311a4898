"""What is called inside a run: the broker, its tools, notes."""
