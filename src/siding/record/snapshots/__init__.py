"""Take snapshots of a workspace, compare them, and keep them in a store of our own."""
