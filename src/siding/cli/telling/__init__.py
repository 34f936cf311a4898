"""What several verbs say, or ask, in the same words."""
