"""Homes written by each version, which every later version has to open."""
