"""Measure the house: what a reader has to hold, and what a command loads. See `__main__`."""
