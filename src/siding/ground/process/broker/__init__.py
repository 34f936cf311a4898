"""The broker's socket: how a run reaches the process that answers what it may ask."""
