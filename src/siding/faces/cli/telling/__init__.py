"""Texts and questions that several verbs share."""
