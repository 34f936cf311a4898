"""Keep what a sandboxed run commits apart, then take it over into the repository."""
