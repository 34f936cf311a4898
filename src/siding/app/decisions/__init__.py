"""Questions put to a person, and the answers."""
