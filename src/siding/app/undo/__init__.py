"""Undo and redo acts."""
