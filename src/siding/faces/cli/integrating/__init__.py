"""`siding integrate`, what the integrated agents start, and the turns beside a branch."""
