"""`siding decide …`: questions put to a person, and the answers."""
