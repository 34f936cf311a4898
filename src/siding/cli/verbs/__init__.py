"""`siding VERB`: one module a verb, or a few of one kind."""
