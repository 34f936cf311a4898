"""Clients of the Agent Client Protocol, for the tests of `siding acp`."""
