"""Hold an agent over a protocol of its own: the port, and what several protocols share."""
