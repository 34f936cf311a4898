"""Bring what has moved on a task's base branch into the task's workspace."""
