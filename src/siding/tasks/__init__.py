"""The board (what is to be done) and the workspaces bound to it (where)."""
