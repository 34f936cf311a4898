"""Answer cards: what asks a person, what can be answered, and which keys a card may take."""
