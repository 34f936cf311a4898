"""Agents that a person starts without `siding run`: told for good to report, and recorded."""
