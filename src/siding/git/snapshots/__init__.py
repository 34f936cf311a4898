"""Snapshots of a workspace: taken, compared, kept in a store of our own."""
