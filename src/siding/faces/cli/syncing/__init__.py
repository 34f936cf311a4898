"""The verb `sync`."""
