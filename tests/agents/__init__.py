"""Real agents against a model server of the tests'."""
