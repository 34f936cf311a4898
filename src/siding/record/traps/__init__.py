"""Traps: files that a run leaves and a program outside runs later. Listed, held, seen."""
