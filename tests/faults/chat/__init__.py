"""Conversations whose host, agent or viewer is killed at each of many moments."""
