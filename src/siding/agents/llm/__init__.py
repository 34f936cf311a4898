"""llm, a model's command line."""
