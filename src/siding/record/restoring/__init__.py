"""Restore a workspace to an earlier state."""
