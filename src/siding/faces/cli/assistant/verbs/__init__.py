"""`siding agent VERB`: what is about the agent and its conversations."""
