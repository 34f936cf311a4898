"""The tool Siding: what a run may ask of the record of its own task, through the port `Broker`."""
