"""Forks and views: workspaces made from recorded states, for those who need many of them."""
