"""Home: what waits, broke, is ready and runs in all projects, and what can be done about it."""
