"""Choose which of the agents that work beside a conversation is shown."""
