"""Servers of models on loopback, each faithful to the wire of a provider."""
