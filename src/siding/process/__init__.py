"""The only place where a child process starts."""
