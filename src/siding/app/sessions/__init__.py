"""Conversations: found, read, gone on with, given out."""
