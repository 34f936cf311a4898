"""Move tasks through their phases, and check the gates."""
