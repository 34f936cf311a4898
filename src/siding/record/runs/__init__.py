"""The runs of a task: the commands that Siding started in it and that still run."""
