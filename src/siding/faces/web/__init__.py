"""The dashboard: pages, a live stream and a JSON API, served on the loopback and behind a key."""
