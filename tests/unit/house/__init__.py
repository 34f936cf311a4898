"""Tests of `tools.house`."""
