"""The dashboard: pages rendered here, a live stream, a JSON API, all on the loopback and keyed."""
