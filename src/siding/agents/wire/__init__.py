"""What other people's programs need of the network: where they send requests, and which hosts."""
