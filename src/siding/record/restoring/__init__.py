"""Restore a workspace to a snapshot. A file that is in no snapshot is never destroyed."""
