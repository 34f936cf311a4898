"""Carry a script out: its calls, their limits, the record."""
