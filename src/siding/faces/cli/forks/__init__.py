"""The verb `fork`."""
