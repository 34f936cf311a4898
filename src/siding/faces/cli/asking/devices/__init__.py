"""The verbs of `siding devices`."""
