"""The verbs of upkeep: `doctor` and `gc`."""
