"""Conversations: runs whose agent is held over its own protocol."""
