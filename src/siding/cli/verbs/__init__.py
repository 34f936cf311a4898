"""`siding VERB`: a module for each verb; similar verbs share one."""
