"""Run commands in a task and record them as steps; record checkpoints."""
